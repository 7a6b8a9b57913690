// The few signs that the output of a run draws with, and what stands for them where only ASCII can be shown.
// Each is one column wide in its Unicode form; no emoji, whose width terminals disagree about.

export interface Signs {
  readonly start: string;
  readonly call: string;
  readonly ok: string;
  readonly failed: string;
  readonly continuation: string;
  readonly waiting: string;
  readonly error: string;
  readonly notice: string;
  /** Stands before every line that the agent wrote. */
  readonly margin: string;
  readonly barFull: string;
  readonly barEmpty: string;
  readonly ellipsis: string;
  readonly arrow: string;
  readonly separator: string;
}

export const unicodeSigns: Signs = {
  start: '»',
  call: '·',
  ok: '✓',
  failed: '✗',
  continuation: '↻',
  waiting: '…',
  error: '!',
  notice: '•',
  margin: '│',
  barFull: '█',
  barEmpty: '░',
  ellipsis: '…',
  arrow: '→',
  separator: '·',
};

export const asciiSigns: Signs = {
  start: '>',
  call: '-',
  ok: 'ok',
  failed: 'failed',
  continuation: '>>',
  waiting: '..',
  error: '!',
  notice: '*',
  margin: '|',
  barFull: '#',
  barEmpty: '.',
  ellipsis: '...',
  arrow: '->',
  separator: '-',
};
