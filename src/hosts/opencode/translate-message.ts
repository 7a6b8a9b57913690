// A message that the host is about to keep: whose it is and what it says. Hosts and plugins put messages of their own
// into a session; only what a person typed or attached is a human's (G4).
import type { AgentDescriptor } from '../../core/events.ts';
import { type Fields, recordOf, textOf } from './payload.ts';

export interface HostMessage {
  readonly id: string;
  /** Null: not a word of it is a human's. */
  readonly text: string | null;
  readonly agent: Omit<AgentDescriptor, 'canWrite'>;
}

/** Null: it cannot be read. */
export function readMessage(message: unknown, parts: readonly unknown[]): HostMessage | null {
  const info = recordOf(message);
  const id = textOf(info['id']);
  if (id === null) return null;
  const model = recordOf(info['model']);
  const [provider, name] = [textOf(model['providerID']), textOf(model['modelID'])];
  const said = parts.map(recordOf).filter(isHuman);
  return {
    id,
    text: said.length === 0 ? null : said.map((part) => textOf(part['text']) ?? '').join('\n'),
    agent: {
      name: textOf(info['agent']),
      model: provider === null || name === null ? null : `${provider}/${name}`,
      variant: textOf(model['variant']) ?? textOf(info['variant']),
    },
  };
}

function isHuman(part: Fields): boolean {
  if (part['synthetic'] === true || part['ignored'] === true) return false;
  return (
    part['type'] === 'text' ||
    part['type'] === 'file' ||
    part['type'] === 'agent' ||
    part['type'] === 'subtask'
  );
}

/** As the host wants it back; the name of a model may hold slashes, that of a provider does not. */
export function splitModel(model: string | null): { providerID: string; modelID: string } | null {
  const cut = model?.indexOf('/') ?? -1;
  if (model === null || cut < 1 || cut === model.length - 1) return null;
  return { providerID: model.slice(0, cut), modelID: model.slice(cut + 1) };
}
