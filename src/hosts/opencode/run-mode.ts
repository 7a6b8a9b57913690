// How the host was started, told by its command line: `opencode run` leaves as soon as its session idles, and nobody
// sits before it. Everything else stays.

const commands: ReadonlySet<string> = new Set(['run', 'serve', 'web', 'acp', 'attach', 'github']);

/** True: there is no time after an idle, so that decisions are made before it. */
export function leavesOnIdle(argv: readonly string[]): boolean {
  // The first two words are the runtime and the host's own file.
  const words = argv.slice(2);
  const command = words.find((word) => commands.has(word));
  if (command === 'github') return true;
  return command === 'run' && !words.some((word) => word === '-i' || /^--interactive(?:=true)?$/u.test(word));
}
