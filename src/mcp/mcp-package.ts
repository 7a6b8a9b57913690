// What we use of the package that speaks MCP. Most of that package is schemas that no
// other command needs, so the build keeps it in a file of its own, which is loaded when a
// server starts.
export {
  CLIENT_INFO_META_KEY,
  fromJsonSchema,
  McpServer,
} from '@modelcontextprotocol/server';
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
