// The four wire protocols in which every story is played, each through the provider
// package that users get for it.
import type { ModelProvider } from '../../src/core/settings.ts';

export interface StoryProtocol {
  /** For the name of a test. */
  readonly name: string;
  /**
   * The provider's name decides about special options: `openai` gets those of the vendor.
   */
  readonly provider: string;
  readonly api: NonNullable<ModelProvider['api']>;
  readonly path: string;
}

export const protocols: readonly StoryProtocol[] = [
  { name: 'openai chat', provider: 'scripted', api: 'chat', path: '/v1' },
  { name: 'openai responses', provider: 'openai', api: 'responses', path: '/v1' },
  { name: 'anthropic', provider: 'scripted', api: 'anthropic', path: '/v1' },
  { name: 'google', provider: 'scripted', api: 'google', path: '/v1beta' },
];

/** Where the protocol cannot matter, one is enough. */
export const oneProtocol = protocols[0] as StoryProtocol;
