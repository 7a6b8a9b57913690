// Messages that mean something as a whole: words that stop (G4) and phrases that say go on (T3).
// A phrase counts only when it is the entire message; it is never searched for inside a longer one.

/** Missing one lets an agent run against its human's word; that is worse than an odd word too many. */
export const defaultStopWords: readonly string[] = [
  'stop',
  'stop it',
  'stop now',
  'please stop',
  'stop please',
  'halt',
  'abort',
  'cancel',
  'quit',
  'enough',
  "that's enough",
  'stopp',
  'stoppen',
  'bitte stopp',
  'anhalten',
  'aufhören',
  'hör auf',
  'abbrechen',
  'arrête',
  'arrêtez',
  'arrêter',
  'para',
  'detente',
  'basta',
  'pare',
  'parar',
  'fermati',
  'ferma',
  'стоп',
  'остановись',
  'dur',
  '停',
  '停止',
  '停下',
  '止めて',
  'やめて',
  'ストップ',
  '그만',
  '멈춰',
  'रुको',
  'توقف',
];

export const defaultGoOnPhrases: readonly string[] = [
  'continue',
  'continue please',
  'please continue',
  'go on',
  'go ahead',
  'proceed',
  'please proceed',
  'keep going',
  'carry on',
  'resume',
  'finish it',
  'finish the rest',
  'do the rest',
  'weiter',
  'mach weiter',
  'bitte weiter',
  'weitermachen',
  'fortfahren',
  'continuer',
  'vas-y',
  'poursuis',
  'continúa',
  'continua',
  'continue por favor',
  'continúa por favor',
  'sigue',
  'adelante',
  'vai avanti',
  'prossegue',
  'продолжай',
  'дальше',
  'devam',
  'devam et',
  '继续',
  '接着做',
  '続けて',
  '続行',
  '계속',
  '계속해',
  'जारी रखो',
  'استمر',
];

/** A validated phrase has at most 400 code units; the rest is room for "!!!". Longer messages are prose. */
const longestMessage = 1000;

/** Whether the whole message is one of the phrases; letter case, spacing and end punctuation do not matter. */
export function isPhrase(message: string, phrases: readonly string[]): boolean {
  const plain = message.trim();
  if (plain === '' || plain.length > longestMessage) return false;
  const wanted = normalisePhrase(plain);
  return phrases.some((phrase) => normalisePhrase(phrase) === wanted);
}

function normalisePhrase(phrase: string): string {
  const plain = phrase.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const bare = plain.replace(/^[¡¿]+/u, '').replace(/[\p{P}\s]+$/u, '');
  // "!!!" as a stop word still means "!!!"; without this, every message of mere punctuation would be equal.
  return bare === '' ? plain : bare;
}
