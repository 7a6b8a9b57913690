// Words that stop (G4) and phrases that say go on (T3). A phrase counts only when it is the entire message.

/** Missing one lets an agent run against its human's word: worse than an odd word too many. */
export const defaultStopWords = phrasesIn(`
  stop, stop it, stop now, please stop, stop please, halt, abort, cancel, quit, enough, that's enough
  stopp, stoppen, bitte stopp, anhalten, aufhören, hör auf, abbrechen
  arrête, arrêtez, arrêter
  para, detente, basta, pare, parar
  fermati, ferma
  стоп, остановись
  dur
  停, 停止, 停下
  止めて, やめて, ストップ
  그만, 멈춰
  रुको
  توقف
`);

export const defaultGoOnPhrases = phrasesIn(`
  continue, continue please, please continue, go on, go ahead, proceed, please proceed
  keep going, carry on, resume, finish it, finish the rest, do the rest
  weiter, mach weiter, bitte weiter, weitermachen, fortfahren
  continuer, vas-y, poursuis
  continúa, continua, continue por favor, continúa por favor, sigue, adelante
  vai avanti, prossegue
  продолжай, дальше
  devam, devam et
  继续, 接着做
  続けて, 続行
  계속, 계속해
  जारी रखो
  استمر
`);

function phrasesIn(lines: string): readonly string[] {
  return lines.trim().split(/\s*[,\n]\s*/);
}

/** A phrase has at most 400 code units; the rest is room for "!!!". */
const longestMessage = 1000;

/** Letter case, spacing and end punctuation do not matter. */
export function isPhrase(message: string, phrases: readonly string[]): boolean {
  const plain = message.trim();
  if (plain === '' || plain.length > longestMessage) return false;
  const wanted = normalisePhrase(plain);
  return phrases.some((phrase) => normalisePhrase(phrase) === wanted);
}

function normalisePhrase(phrase: string): string {
  const plain = phrase.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
  const bare = plain.replace(/^[¡¿]+/u, '').replace(/[\p{P}\s]+$/u, '');
  // "!!!" still means "!!!": messages of mere punctuation are not all equal.
  return bare === '' ? plain : bare;
}
