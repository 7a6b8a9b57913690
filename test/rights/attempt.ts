// One attempt of an agent to get more than its human gave it, as a row of the table in
// docs/permissions.md.

export interface Row {
  readonly way:
    | 'tool arguments'
    | 'files'
    | 'commands'
    | 'terminals'
    | 'workers'
    | 'checks'
    | 'git'
    | 'the store';
  readonly attempt: string;
  /** What happened, in the words of whoever refused. */
  readonly happened: string;
  /** The agent got what it wanted. */
  readonly raised: boolean;
  /** Nothing can prevent it; then it must at least be seen afterwards. */
  readonly isDetectedOnly?: true;
}

/** The sentence that a refusal says, without paths and ids of the run. */
export function sentenceOf(output: string): string {
  const line =
    output.split('\n').find((each) => each.includes('untildone: ')) ??
    output.split('\n')[0] ??
    '';
  return line.replace(/^.*untildone: /u, '').trim();
}

/** What was said may quote anything: no mark of Markdown in it shall count. */
function withoutCode(text: string): string {
  return text
    .replaceAll('`', "'")
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('**', '\\*\\*');
}

export function renderTable(rows: readonly Row[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const lines = rows.map(
    ({ way, attempt, happened }) =>
      `| ${way} | ${cell(attempt)} | ${cell(withoutCode(happened))} |`,
  );
  return ['| by | attempt | what happened |', '|---|---|---|', ...lines].join('\n');
}
