// What Gemini CLI shows beside its payloads: which variables a project sets in it, and what its transcript says of tokens.
import type { AskedHost } from '../asked-call.ts';
import { createAskedHost } from '../asked-translate.ts';
import { dotEnvFiles, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { geminiLanguage } from './translate.ts';

export const geminiCli: AskedHost = {
  ...createAskedHost(geminiLanguage),
  readUsage: usageIn('"tokens"', ({ type, id, tokens }) => {
    const { input, tool, output, thoughts } = recordOf(tokens);
    return type === 'gemini' ? { key: id, input: [input, tool], output: [output, thoughts] } : null;
  }),
  // It loads the first that it finds; told to, it goes on past an .env. What the human's own environment sets stays, but
  // nobody can tell from here whose it is.
  projectVariables: ({ descriptor: { directory } }) => variablesOf([], dotEnvFiles(directory, '.gemini')),
};
