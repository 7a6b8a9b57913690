// What people say, in the languages that we know, when one short message is meant for the
// automation and not for the agent. Both lists are only defaults of settings.
/**
 * Messages that stop the agent. If one is missing, an agent runs against its human's
 * word: that is worse than an odd word too many.
 */
export const stopWords = phrasesIn(`
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

/** Messages that send the agent back to the open todos of earlier turns. */
export const goOnPhrases = phrasesIn(`
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
