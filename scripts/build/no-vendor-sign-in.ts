// Stands in for the AI SDK's gateway, which signs in at its vendor. Nothing here uses the
// gateway; a call that gets this far is a mistake and must not look for tokens on the
// human's machine.

function refuse(): never {
  throw new Error(
    'The model gateway is not part of untildone: name a provider and a model instead.',
  );
}

/** No error is one of the gateway's. */
const never = { isInstance: (): boolean => false };

export const GatewayError = never;
export const GatewayAuthenticationError = never;
export const createGateway = refuse;
export const gateway = new Proxy(refuse, { get: refuse });
