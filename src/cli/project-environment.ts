// Ignores variables that the project's settings of a host may have set: a program of ours
// that a host starts inherits the host's environment. The program does not know which
// host that is, so it ignores what this folder sets for any host (V10).
import { hosts } from '../hosts/hosts.ts';
import { ignoredSentence, withoutStrangers } from '../hosts/project-variables.ts';
import type { Io } from './io.ts';

/** `own`: `io` without those variables. `warning` names them; null: there are none. */
export async function withoutProjectVariables(io: Io) {
  const adapters = await Promise.all(hosts.flatMap(({ asked }) => asked?.() ?? []));
  const foundVariables = adapters.flatMap(({ projectVariables }) =>
    projectVariables === undefined ? [] : [projectVariables(io.cwd, io.env)],
  );
  const strangers = foundVariables.includes(null)
    ? null
    : foundVariables.flatMap((names) => names ?? []);
  const alsoRead = adapters.flatMap(({ variables }) => variables);
  const { environment, ignored } = withoutStrangers(io.env, {
    strangers,
    alsoRead,
    home: null,
  });
  const warning = ignored.length === 0 ? null : ignoredSentence(ignored, strangers);
  return { own: { ...io, env: environment }, warning };
}
