// A plugin that is loaded before ours and sets the clock of the whole host by `.clock` in
// its folder.
import { join } from 'node:path';
import { setClock } from '../../support/set-clock.ts';

// biome-ignore lint/style/noDefaultExport: the host's loader asks for it.
export default {
  id: 'clock',
  async server({ directory }: { readonly directory: string }) {
    setClock(join(directory, '.clock'));
    return {};
  },
};
