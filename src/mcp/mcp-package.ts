// What we use of the package that speaks MCP, and nothing else of it: most of it is
// schemas that no other command needs, so that the build keeps it in a file of its own,
// which is loaded when a server starts.
export {
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  McpServer,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
