// Gemini signs its calls, and clients send the signature back even where they drop the call's id. We sign with the
// id, so that a call is recognised either way. Other servers' signatures read as nothing.

const PREFIX = 'scripted:';

export function writeSignature(callId: string): string {
  return Buffer.from(PREFIX + callId).toString('base64');
}

export function readSignature(signature: string): string {
  const text = Buffer.from(signature, 'base64').toString('utf8');
  return text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
}
