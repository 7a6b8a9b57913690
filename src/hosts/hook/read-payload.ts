// Reads what a host wrote to stdin. Bounded: a payload carries whole files and their images, but not a disk.
import { readSync } from 'node:fs';

/** The largest honest payload is a tool's result with the file before and after it. */
export const mostPayloadBytes = 33_554_432;
const chunkBytes = 65_536;

export type Payload =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly sentence: string };

/** Without a stream: setting one up would cost a hook more than all the rest of its work. */
export async function readPayload(descriptor: number): Promise<Payload> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const length = await readSome(descriptor, chunk);
    if (length === 0) break;
    size += length;
    // What is too much is still read to its end: a host that is cut off in mid-write reports a broken hook.
    if (size <= mostPayloadBytes) chunks.push(chunk.subarray(0, length));
    else chunks.length = 0;
  }
  if (size > mostPayloadBytes)
    return { ok: false, sentence: `The host sent ${size} bytes, more than ${mostPayloadBytes}.` };
  if (size === 0) return { ok: false, sentence: 'The host sent nothing.' };
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    // Safe: what cannot be read asks for nothing, and the sentence goes on the record.
    return { ok: false, sentence: 'The host sent something that is not JSON.' };
  }
}

/** 0: the end. A pipe that has nothing yet, and does not block, is asked again a little later. */
async function readSome(descriptor: number, chunk: Buffer): Promise<number> {
  for (;;) {
    try {
      return readSync(descriptor, chunk);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // Windows reports the end of a pipe as an error; a closed stdin has nothing to read either.
      if (code === 'EOF' || code === 'EBADF') return 0;
      if (code !== 'EAGAIN') throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
