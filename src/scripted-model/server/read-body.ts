// Reads a request body as JSON, compressed or not, up to a limit. It never keeps more than the limit in memory.
import type { IncomingMessage } from 'node:http';
import * as zlib from 'node:zlib';

// The largest context windows are a few megabytes of text; images in base64 are larger.
const MOST_BYTES = 64 * 1024 * 1024;

export type Body =
  | { readonly kind: 'json'; readonly value: unknown; readonly bytes: number }
  | { readonly kind: 'unreadable'; readonly reason: string };

function decompressed(bytes: Buffer, encoding: string): Buffer {
  const limit = { maxOutputLength: MOST_BYTES };
  switch (encoding) {
    case 'gzip':
      return zlib.gunzipSync(bytes, limit);
    case 'deflate':
      return zlib.inflateSync(bytes, limit);
    case 'br':
      return zlib.brotliDecompressSync(bytes, limit);
    case 'zstd':
      // Not in every Node that the package runs on; calling it there is reported as an unreadable body.
      return zlib.zstdDecompressSync(bytes, limit);
    default:
      return bytes;
  }
}

export async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES)
      return { kind: 'unreadable', reason: `The body is larger than ${MOST_BYTES} bytes.` };
    chunks.push(chunk as Buffer);
  }
  try {
    const text = decompressed(Buffer.concat(chunks), request.headers['content-encoding'] ?? '').toString(
      'utf8',
    );
    return { kind: 'json', value: text === '' ? {} : JSON.parse(text), bytes: text.length };
  } catch (error) {
    // A broken body is the client's mistake and is told to it: the server goes on with the next request.
    return { kind: 'unreadable', reason: `The body could not be read as JSON: ${String(error)}` };
  }
}
