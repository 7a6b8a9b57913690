// Loaded by NODE_OPTIONS into our hooks.
import { setClock } from '../../support/set-clock.ts';

setClock(process.env['HOST_TEST_CLOCK'] ?? '');
