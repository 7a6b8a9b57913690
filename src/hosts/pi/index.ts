// What pi's loader takes: the default export of an extension file.
import { createPiExtension } from './host.ts';

// biome-ignore lint/style/noDefaultExport: pi's loader asks for it
export default createPiExtension();
