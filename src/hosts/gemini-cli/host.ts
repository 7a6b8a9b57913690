// How our answers look to Gemini CLI, which variables a project sets in it, and what its transcript says of tokens.
import type { AskedHost } from '../asked-call.ts';
import { createFindStop, renderBlock } from '../asked-translate.ts';
import { dotEnvFiles, variablesOf } from '../project-files.ts';
import { usedSince } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { geminiLanguage, translate } from './translate.ts';

export const geminiCli: AskedHost = {
  translate,
  readUsage: (transcript, since) =>
    usedSince(transcript, since, '"tokens"', ({ type, id, tokens }) => {
      const { input, tool, output, thoughts } = recordOf(tokens);
      return type === 'gemini' ? { key: id, input: [input, tool], output: [output, thoughts] } : null;
    }),
  // It loads the first that it finds; told to, it goes on past an .env. What the human's own environment sets stays, but
  // nobody can tell from here whose it is.
  projectVariables: ({ descriptor: { directory } }) => variablesOf([], dotEnvFiles(directory, '.gemini')),
  findStop: createFindStop(geminiLanguage),
  render: (answer, hook) => renderBlock(answer, hook === 'AfterAgent', hook),
  // Hooks do not have it, unless an agent's command started the host.
  agentCommandOf: (variable) => (variable('GEMINI_CLI') === '1' ? { sessionId: null } : null),
};
