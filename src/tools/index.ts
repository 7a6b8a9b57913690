// `untildone/tools`: what a model is told about the todo tools, for programs that call
// its API themselves. `session.tools[name].execute(input)` runs them.
export type { TodoToolName } from './todo-tools.ts';
export {
  type ToolFormat,
  todoToolFormat as toolsFor,
  toolFormats,
} from './tool-formats.ts';
