// Names the process that holds a lease, so that another one on the same machine can see whether it still lives.
// A process id can be used again: then the lease simply runs out on its own.
import { hostname } from 'node:os';

export function processHolder(unique: string): string {
  return `${hostname()}/${process.pid}/${unique}`;
}

/** Holders on other machines, or in a form we do not know, count as alive: their lease expires by time. */
export function isHolderAlive(holder: string): boolean {
  const [machine, pid] = holder.split('/');
  if (machine !== hostname() || pid === undefined || !/^[1-9]\d*$/.test(pid)) return true;
  return isProcessAlive(Number(pid));
}

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any refusal but "no such process" means that the process is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
