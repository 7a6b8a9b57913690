// A provider's own words inside our sentences and signatures: short, harmless on a terminal, and without anything
// that could be a key. It cannot know what a key looks like, so whatever might be one goes.
import { oneLine } from '../../core/safe-text.ts';

/** Enough for one sentence of a provider. */
const longestQuote = 200;
const longestSignature = 160;

/** Marked keys (sk-…, AIza…), bearer tokens, and any long word with digits in it. */
const secrets = [
  /\b(?:bearer|basic)\s+\S+/gi,
  /\b(?:sk|pk|rk|xai|gsk|key|api|token|ghp|gho|glpat|hf|nvapi)[-_][\w*.-]{6,}/gi,
  /\bAIza[\w*-]{10,}/g,
  /(?=[\w+/=*-]*\d)[\w+/=*-]{28,}/g,
];

function withoutSecrets(text: string): string {
  return secrets.reduce((rest, pattern) => rest.replace(pattern, '…'), text);
}

/** For people. */
export function quoteProvider(text: string): string {
  return oneLine(withoutSecrets(text), longestQuote);
}

/** The same cause gives the same text: what differs from call to call (numbers, ids, addresses) is taken out. */
export function signatureText(text: string): string {
  const stable = withoutSecrets(text)
    .toLowerCase()
    .replace(/https?:\/\/\S+/g, '#')
    .replace(/\b(?:req|request|msg|resp|call|chatcmpl|trace|id)[-_:][\w-]+/g, '#')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '#')
    .replace(/\b(?=\w*\d)[0-9a-f]{8,}\b/g, '#')
    .replace(/\d+(?:[.,:]\d+)*/g, '#');
  return oneLine(stable, longestSignature);
}
