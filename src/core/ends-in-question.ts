// Whether a final text ends by asking the human something (G11). Punctuation only: what a sentence means is not
// judged here, and a question inside code or in the middle of a text is none.

/** Question marks of the scripts that have their own, and the particles that close a question where none is written. */
const questionEnd =
  /(?:[?\uff1f\u061f\u055e\u037e\u2047\u2048]|(?:ます|です|しょう|ません)か[。.]?|[吗嗎][。.]?)$/u;
/** What may follow the mark: quotes, brackets, emphasis, emoji, an exclamation mark ("really?!"). */
const trailing = /(?:[\s"'”’»)\]}*_~!！」』）]|\p{Extended_Pictographic}|\u{fe0f}|\u{200d})+$/u;

/** The end decides, and reading more of a long text would cost time for nothing. */
const tailLength = 500;

export function endsInQuestion(text: string): boolean {
  const tail = text.slice(-tailLength).trimEnd();
  if (tail.endsWith('```')) return false;
  return questionEnd.test(tail.replace(trailing, ''));
}
