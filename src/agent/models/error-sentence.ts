// One sentence for people per kind of failure: what happened and what to do about it. It names variables and
// addresses, never their secrets; what a provider said is quoted only where it helps.
import type { ErrorFacts } from './error-facts.ts';
import { type ErrorKind, isSpent } from './error-kind.ts';
import { quoteProvider } from './provider-words.ts';
import type { ModelFacts } from './resolve-model.ts';

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start the server or correct its address',
  ConnectionRefused: 'nothing listens there; start the server or correct its address',
  ENOTFOUND: 'its name cannot be found; check the network and the address',
  EAI_AGAIN: 'its name cannot be looked up; check the network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'there is no way to it; check the network',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  UND_ERR_SOCKET: 'the connection broke off',
};

export function errorSentence(kind: ErrorKind, facts: ErrorFacts, about: ModelFacts): string {
  const { label, address } = about;
  switch (kind) {
    case 'aborted':
      return 'The call to the model was ended.';
    case 'rate-limit':
      return `${label} limits how often it may be called; the agent goes on when the limit resets.`;
    case 'overload':
      return `${label} is overloaded; the agent goes on when it answers again.`;
    case 'overflow':
      return `The conversation no longer fits into the context of ${label}.`;
    case 'auth':
      return authSentence(facts, about);
    case 'unknown-model':
      return `${label} is not known at ${address}: ${modelHint(about)}.`;
    case 'network':
      return networkSentence(facts, about);
    case 'refusal':
      return `${label} refuses this request by its content rules${said(facts)}.`;
    case 'server':
      return facts.status === null
        ? `The answer of ${label} cannot be read: it broke off or is malformed.`
        : `${label} failed on its side (status ${facts.status})${said(facts)}.`;
    case 'bad-request':
      if (facts.status === 404) {
        return `${address} does not know this kind of request: check the address, or set models.${about.provider}.api to "chat" if it speaks chat completions only.`;
      }
      return `${label} does not accept the request${facts.status === null ? '' : ` (status ${facts.status})`}${said(facts)}.`;
    case 'other':
      return `The call to ${label} failed${said(facts)}.`;
  }
}

function authSentence(facts: ErrorFacts, { label, address, provider, keyVariable }: ModelFacts): string {
  if (isSpent(facts))
    return `The account behind ${keyVariable ?? label} has no credit left: check its billing.`;
  if (keyVariable === null) {
    return `${address} wants a key: name the variable that holds it in models.${provider}.apiKeyEnv.`;
  }
  if (facts.status === 403) {
    return `The key in ${keyVariable} may not use ${label}: check its permissions, or choose another model with --model.`;
  }
  return `The key in ${keyVariable} was refused by ${address}: check it and set it again.`;
}

function networkSentence({ networkCode, names, message }: ErrorFacts, { address }: ModelFacts): string {
  const isTimeout =
    names.includes('TimeoutError') ||
    /TIMEOUT|ETIMEDOUT/.test(networkCode ?? '') ||
    /^TimeoutError/.test(message);
  if (isTimeout) return `${address} did not answer in time; check the network or try again.`;
  if (isCertificateCode(networkCode)) {
    return `The certificate of ${address} is not trusted: name your own authority in NODE_EXTRA_CA_CERTS.`;
  }
  const why = unreachable[networkCode ?? ''] ?? 'check the network and the address';
  return `${address} cannot be reached: ${why}.`;
}

export function isCertificateCode(code: string | null): boolean {
  return code !== null && /CERT|SIGNATURE/.test(code);
}

function modelHint({ provider, modelId }: ModelFacts): string {
  return provider === 'ollama'
    ? `fetch it with "ollama pull ${modelId}", or choose another with --model`
    : 'check its name, or choose another with --model';
}

function said({ message }: ErrorFacts): string {
  const words = quoteProvider(message).replace(/[.\s]+$/, '');
  return words === '' ? '' : `; it says: ${words}`;
}
