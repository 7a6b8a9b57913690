// What the host's loader takes by the name of our package: `exports["./server"]`.
import { createOpenCodePlugin } from './index.ts';

// biome-ignore lint/style/noDefaultExport: the host's loader asks for it, and calls every other export
export default { id: 'untildone', server: createOpenCodePlugin() };
