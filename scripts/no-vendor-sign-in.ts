// Stands in for the package by which the AI SDK's gateway signs in at its vendor. Nothing here uses the gateway; a
// call that gets this far is a mistake and must not look for tokens on the human's machine.

function refuse(): never {
  throw new Error('The model gateway is not part of untildone: name a provider and a model instead.');
}

export const getContext = (): Record<string, never> => ({});
export const getVercelOidcToken = async (): Promise<string> => refuse();
export const getVercelOidcTokenSync = (): string => refuse();
