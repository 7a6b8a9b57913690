// Loaded by NODE_OPTIONS into every Node that Claude Code starts: our hooks and our MCP
// server.
import { setClock } from '../../support/set-clock.ts';

setClock(process.env['HOST_TEST_CLOCK'] ?? '');
