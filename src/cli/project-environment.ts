// A program of ours that a host starts stands in the environment of the host, into which the project's settings of that host
// wrote. It does not know which host that is: what any host reads in this folder is left aside (V10).
import { hosts } from '../hosts/hosts.ts';
import { ignoredSentence, withoutStrangers } from '../hosts/project-variables.ts';
import type { Io } from './io.ts';

/** `told`: a sentence about what was left aside; null: nothing. */
export async function withoutProjectVariables(io: Io) {
  const adapters = await Promise.all(hosts.flatMap(({ asked }) => asked?.() ?? []));
  const said = adapters.flatMap(({ projectVariables }) =>
    projectVariables === undefined ? [] : [projectVariables(io.cwd, io.env)],
  );
  const strangers = said.includes(null) ? null : said.flatMap((names) => names ?? []);
  const alsoRead = adapters.flatMap(({ variables }) => variables);
  const { environment, ignored } = withoutStrangers(io.env, { strangers, alsoRead, home: null });
  const told = ignored.length === 0 ? null : ignoredSentence(ignored, strangers);
  return { own: { ...io, env: environment }, told };
}
