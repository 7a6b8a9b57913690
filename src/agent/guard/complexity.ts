// How much work a human message asks for, judged by its form alone (steps, files, list items, "and then"), and the hint
// to plan that goes with a complex one (I6). It guesses in many languages: a missing word costs a hint, nothing more.

const reasons = {
  'list-items': 'a list of points',
  'sequence-words': 'steps that follow each other',
  'several-actions': 'several things to do',
  files: 'several files',
  long: 'a long description',
  'code-block': 'code to work on',
} as const;
export type ComplexityReason = keyof typeof reasons;

/** One strong sign or two weak ones. A needless hint costs a line; a missing one costs nothing the plan rules miss. */
const complexFrom = 3;
/** A request shows its form early; what follows is pasted material, and reading it all would cost time. */
const readLength = 20_000;

export function analyseComplexity(message: string): { reasons: ComplexityReason[]; isComplex: boolean } {
  const text = message.slice(0, readLength).normalize('NFKC');
  // Fenced code and quoted output are material, not request: their lists, paths and words do not count.
  let isCode = false;
  const lines = text.split(/\r?\n/u).filter((line) => {
    const isFence = /^\s*(?:```|~~~)/u.test(line);
    if (isFence) isCode = !isCode;
    return !isFence && !isCode;
  });
  const prose = lines.join('\n');
  if (isSimpleQuestion(prose)) return { reasons: [], isComplex: false };
  const points: Record<ComplexityReason, number> = {
    'list-items': grade(countListItems(prose), [2, 2], [3, 3]),
    'sequence-words': grade(countSequenceWords(prose), [1, 2], [2, 3]),
    'several-actions': grade(countActions(prose), [2, 1], [3, 3]),
    files: grade(countFiles(prose), [2, 1], [3, 3]),
    long: grade(readingLength(prose), [500, 1], [1500, 3]),
    'code-block': prose === text ? 0 : 1,
  };
  const seen = (Object.keys(points) as ComplexityReason[]).filter((reason) => points[reason] > 0);
  const score = seen.reduce((sum, reason) => sum + points[reason], 0);
  return { reasons: seen, isComplex: score >= complexFrom };
}

/**
 * Null: nothing to say. `complexTurnsWithoutPlan` counts the turns before this one; `attempt` is that of the step, and a
 * retry has a reminder of its own. It quotes nothing of the message: its words are ours alone.
 */
export function planningHint(message: string, complexTurnsWithoutPlan: number, attempt = 1): string | null {
  const complexity = analyseComplexity(message);
  if (attempt > 1 || !complexity.isComplex) return null;
  const seen = `This request has ${complexity.reasons.map((reason) => reasons[reason]).join(', ')}.`;
  const turns = Math.min(complexTurnsWithoutPlan, 99);
  if (turns <= 0)
    return `${seen} Plan it with the todo tools first, then work through the todos and mark each one when it is finished.`;
  return turns === 1
    ? `${seen} The last complex request was worked on without a plan. Write the todos before the first other tool call this time, one for each part.`
    : `${seen} The last ${turns} complex requests were worked on without a plan. Your first call must write the todos, one for each part; call no other tool before that.`;
}

export function countComplexTurn(before: number, message: string, wroteTodos: boolean): number {
  if (wroteTodos) return 0;
  return analyseComplexity(message).isComplex ? before + 1 : before;
}

type Grade = readonly [from: number, points: number];

function grade(count: number, weak: Grade, strong: Grade): number {
  if (count >= strong[0]) return strong[1];
  return count >= weak[0] ? weak[1] : 0;
}

/** One sentence that asks to know something. "Can you add …?" is an order in the form of a question. */
function isSimpleQuestion(prose: string): boolean {
  const sentence = prose.trim();
  if (!/[?？؟]$/u.test(sentence)) return false;
  if (/[.!?。！？;\n]\s*\S/u.test(sentence.slice(0, -1).replace(/[\w-]\.[\w-]/gu, ''))) return false;
  const [first = '', second = ''] = wordsOf(sentence.toLowerCase());
  if (questionWords.has(first) || questionWords.has(`${first} ${second}`)) return true;
  return /什么|什麼|怎么|如何|哪|吗|嗎|何|なぜ|どう|ですか|왜|무엇|어떻게|뭐/u.test(sentence);
}

function countListItems(prose: string): number {
  const ownLine = prose.match(/^[ \t]{0,12}(?:[-*+•–]|\d{1,3}[.)、]|[a-z][.)]|\[[ x]\])[ \t]+\S/gimu);
  const inline = prose.match(/(?:^|[\s,;:(])(?:\(\d{1,2}\)|\d{1,2}\)|[①-⑳])/gu);
  return Math.max(ownLine?.length ?? 0, inline?.length ?? 0);
}

function countSequenceWords(prose: string): number {
  const plain = ` ${wordsOf(prose.toLowerCase()).join(' ')} `;
  const spaced = sequenceWords.filter((word) => plain.includes(` ${word} `));
  const distinct = spaced.filter((word) => !spaced.some((other) => other !== word && other.includes(word)));
  return distinct.length + unspacedSequenceWords.filter((word) => prose.includes(word)).length;
}

/** Sentences, parts between commas, and what "and" joins: each may open with an order of its own. */
function countActions(prose: string): number {
  const orders = new Set(unspacedActionVerbs.filter((verb) => prose.includes(verb)));
  for (const part of prose.toLowerCase().split(/[.,;:!?(]\s|\n|،/u)) {
    let isOpen = true;
    for (const word of wordsOf(part)) {
      if (conjunctions.has(word)) isOpen = true;
      else if (isOpen && !leadIns.has(word)) {
        isOpen = false;
        if (actionVerbs.has(word)) orders.add(word);
      }
    }
  }
  return orders.size;
}

/** Longer tokens are data; the patterns below would take their time with them. */
const longestPath = 200;

/** `src/a`, `./x`, `readme.md`, `*.ts`; neither "and/or" nor "e.g" nor a version nor an address. */
function countFiles(prose: string): number {
  const isPath = /^(?:\.{0,2}|~)\/[\w.@*-]|^[\w.@*-]+(?:\/[\w.@*-]+){2,}$/u;
  const isName = /^(?!\d)(?=.*[\w*]{2}.*\.)[\w./@*-]*[\w*]\.[a-z][a-z\d]{0,4}$/iu;
  const tokens = prose.split(/[\s"'`,;()[\]{}<>，、。：]+/u).filter(({ length }) => length <= longestPath);
  const names = tokens.map((token) => token.replace(/[.:!?]+$/u, ''));
  return new Set(names.filter((name) => !name.includes('://') && (isPath.test(name) || isName.test(name))))
    .size;
}

function readingLength(prose: string): number {
  const dense = prose.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu);
  return prose.length + 1.5 * (dense?.length ?? 0);
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}'’-]+/u).filter((word) => word !== '');
}

/** Words by their bars, so that a language stays one readable line. */
function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split('|'));
}

/** "Do this, and then that." No "next": it is more often a release, a week or a framework. */
const sequenceWords = words(
  'and then|then|after that|afterwards|afterward|once that is done|finally|lastly|und dann|danach',
  'anschließend|anschliessend|daraufhin|zuletzt|zum schluss|schließlich|et puis|puis|ensuite|après cela',
  'après ça|enfin|pour finir|y luego|luego|después|a continuación|finalmente|por último|e depois|depois',
  'em seguida|por fim|e poi|poi|dopodiché|infine|daarna|vervolgens|ten slotte|sedan|därefter|slutligen',
  'następnie|potem|na koniec|затем|потом|после этого|наконец|потім|після цього|ardından|daha sonra',
  'son olarak|ثم|بعد ذلك|وأخيرا|फिर|उसके बाद|अंत में',
);

const unspacedSequenceWords = words(
  '然后|然後|接着|接著|随后|隨後|之后再|最后|最後|その後|それから|次に|続いて|그런 다음|그다음|그 다음|그리고 나서|그 후|마지막으로',
);

const actionVerbs: ReadonlySet<string> = new Set(
  words(
    'add|build|change|check|clean|convert|create|delete|deploy|document|extract|fix|generate|implement',
    'install|integrate|merge|migrate|move|optimize|port|publish|refactor|release|remove|rename|replace',
    'rewrite|run|set|split|test|translate|update|upgrade|verify|write|make|configure|commit|push|review',
    'füge|baue|ändere|prüfe|erstelle|lösche|entferne|behebe|repariere|schreibe|schreib|aktualisiere|ersetze',
    'teste|führe|migriere|benenne|verschiebe|installiere|dokumentiere|übersetze|veröffentliche|richte',
    'implementiere|ajoute|ajoutez|ajouter|corrige|corrigez|corriger|crée|créez|créer|écris|écrivez|supprime',
    'supprimez|supprimer|renomme|renommez|testez|déploie|déployez|lance|mets|mettez|remplace|remplacez',
    'implémente|implémentez|vérifie|vérifiez|traduis|añade|agrega|arregla|crea|escribe|elimina|borra',
    'actualiza|reemplaza|prueba|ejecuta|despliega|implementa|migra|renombra|traduce|documenta|adicione',
    'corrija|crie|escreva|remova|atualize|substitua|execute|implemente|migre|aggiungi|correggi|scrivi',
    'rimuovi|aggiorna|sostituisci|esegui|verifica|rinomina|voeg|maak|schrijf|verwijder|vervang|voer|hernoem',
    'herschrijf|dodaj|napraw|utwórz|napisz|usuń|zaktualizuj|zmień|uruchom|przetestuj|добавь|добавьте',
    'исправь|исправьте|создай|создайте|напиши|напишите|удали|удалите|обнови|обновите|замени|замените',
    'переименуй|запусти|запустите|проверь|проверьте|ekle|düzelt|oluştur|yaz|sil|güncelle|değiştir|çalıştır',
  ),
);

/** Anywhere in a clause: these scripts put the verb where grammar wants it, often last. */
const unspacedActionVerbs = words(
  '添加|新增|修复|修復|编写|編寫|创建|建立|实现|重构|迁移|更新|删除|部署|重命名|替换|运行测试|測試|写测试|补充|追加|修正|作成|書いて|削除|実装|移行|実行|추가|수정|작성|삭제',
  '구현|업데이트|배포|실행',
);

const questionWords: ReadonlySet<string> = new Set(
  words(
    "what|whats|what's|why|how|when|who|which|where|whose|is|are|was|were|does|do|did|has|have|should|am",
    'wie|warum|wieso|weshalb|wann|wer|wo|welche|welcher|welches|ist|sind|hat|pourquoi|comment|quand|où|qui',
    "quel|quelle|quels|quelles|qu'est-ce|est-ce|qué|por qué|por que|cómo|cuándo|dónde|cuál|cuáles|quién",
    'o que|como|quando|onde|qual|cosa|che|perché|come|dove|quale|chi|wat|waarom|hoe|wanneer|waar|welke|co',
    'dlaczego|jak|kiedy|gdzie|czy|vad|varför|hur|när|что|почему|как|когда|где|кто|зачем|какой|какая|ne',
    'neden|nasıl|nerede|ما|ماذا|لماذا|كيف|متى|أين|هل|क्या|क्यों|कैसे|कब|कहाँ',
  ),
);

const leadIns: ReadonlySet<string> = new Set(
  words(
    "please|pls|now|first|also|just|let's|lets|can|could|you|to|must|i|want|need|bitte|zuerst|erst|dann",
    "noch|auch|kannst|du|s'il|te|vous|plaît|plait|d'abord|por|favor|primero|primeiro|per|favore|prima|eerst",
    'graag|najpierw|proszę|пожалуйста|сначала|önce|lütfen|then|next|finally|puis|ensuite|luego|después',
    'depois|poi|danach|anschließend|затем|потом|daarna|następnie|potem',
  ),
);

const conjunctions: ReadonlySet<string> = new Set(
  words('and|und|sowie|et|y|e|ed|en|i|oraz|och|и|та|ve|و|और'),
);
