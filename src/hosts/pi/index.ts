// The extension file that pi loads: it takes the default export.
import { createPiExtension } from './host.ts';

// biome-ignore lint/style/noDefaultExport: pi's loader asks for it
export default createPiExtension();
