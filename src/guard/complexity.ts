// How much work a message asks for, by its form alone, and the hint to plan it (I6). A
// missing word costs a hint.
import type { Event } from '../core/events.ts';

/** In words; its count; from where weak, of how many points; from where strong. */
type Sign = readonly [
  words: string,
  count: Count,
  weak: number,
  points: number,
  strong: number,
];
type Count = (prose: string, text: string) => number;
export type ComplexityReason = keyof typeof signs;
const signs = {
  'list-items': ['a list of points', countListItems, 2, 2, 3],
  'sequence-words': ['steps that follow each other', countSequences, 1, 2, 2],
  'several-actions': ['several things to do', countActions, 2, 1, 3],
  files: ['several files', countFiles, 2, 1, 3],
  long: ['a long description', readingLength, 500, 1, 1500],
  'code-block': ['code to work on', (prose, text) => (prose === text ? 0 : 1), 1, 1, 2],
} satisfies Record<string, Sign>;

/** A needless hint costs a line; a missing one nothing that the plan rules miss. */
const complexFrom = 3;
/** What follows is pasted material, and reading it would cost time. */
const readLength = 20_000;

export function analyseComplexity(message: string) {
  const text = message.slice(0, readLength).normalize('NFKC');
  // Fenced code is material: its lists, paths and words do not count.
  let isCode = false;
  const lines = text.split(/\r?\n/u).filter((line) => {
    const isFence = /^\s*(?:```|~~~)/u.test(line);
    if (isFence) isCode = !isCode;
    return !isFence && !isCode;
  });
  const prose = lines.join('\n');
  if (isSimpleQuestion(prose)) return { reasons: [], isComplex: false };
  let score = 0;
  const reasons = (Object.keys(signs) as ComplexityReason[]).filter((reason) => {
    const [, countIn, weak, points, strong]: Sign = signs[reason];
    const count = countIn(prose, text);
    score += count >= strong ? complexFrom : count >= weak ? points : 0;
    return count >= weak;
  });
  return { reasons, isComplex: score >= complexFrom };
}

/** Quotes nothing of the message. `attempt`: a retry has a reminder of its own. */
export function planningHint(
  message: string,
  complexTurnsWithoutPlan: number,
  attempt = 1,
): string | null {
  const { isComplex, reasons } = analyseComplexity(message);
  if (attempt > 1 || !isComplex) return null;
  const seen = `This request has ${reasons.map((reason) => signs[reason][0]).join(', ')}.`;
  const turns = Math.min(complexTurnsWithoutPlan, 99);
  if (turns <= 0)
    return `${seen} Plan it with the todo tools first, then work through the todos and mark each one when it is finished.`;
  return turns === 1
    ? `${seen} The last complex request was worked on without a plan. Write the todos before the first other tool call this time, one for each part.`
    : `${seen} The last ${turns} complex requests were worked on without a plan. Your first call must write the todos, one for each part; call no other tool before that.`;
}

/**
 * Complex turns in a row without a plan, by what began each and what was written. Whoever
 * writes to a plan has one, an older one too.
 */
export function countComplexTurn(before: number, event: Event) {
  if (event.type === 'todos-created' || event.type === 'plan-written') return 0;
  if (event.type !== 'human-spoke') return before;
  return analyseComplexity(event.text ?? '').isComplex ? before + 1 : before;
}

/** "Can you add …?" is an order in the form of a question. */
function isSimpleQuestion(prose: string) {
  const sentence = prose.trim();
  if (!/[?？؟]$/u.test(sentence)) return false;
  if (/[.!?。！？;\n]\s*\S/u.test(sentence.slice(0, -1).replace(/[\w-]\.[\w-]/gu, '')))
    return false;
  const [first = '', second = ''] = wordsOf(sentence);
  if (questionWord.test(first) || questionWord.test(`${first} ${second}`)) return true;
  return /什么|什麼|怎么|如何|哪|吗|嗎|何|なぜ|どう|ですか|왜|무엇|어떻게|뭐/u.test(
    sentence,
  );
}

function countListItems(prose: string) {
  const ownLine = prose.match(
    /^[ \t]{0,12}(?:[-*+•–]|\d{1,3}[.)、]|[a-z][.)]|\[[ x]\])[ \t]+\S/gimu,
  );
  const inline = prose.match(/(?:^|[\s,;:(])(?:\(\d{1,2}\)|\d{1,2}\)|[①-⑳])/gu);
  return Math.max(ownLine?.length ?? 0, inline?.length ?? 0);
}

function countSequences(prose: string) {
  return new Set(` ${wordsOf(prose).join(' ')} `.match(sequenceWord)).size;
}

/** Each part may open with an order. */
function countActions(prose: string) {
  const orders = new Set(
    unspacedActionVerbs.split('|').filter((verb) => prose.includes(verb)),
  );
  for (const part of prose.split(/[.,;:!?(]\s|\n|،/u)) {
    let isOpen = true;
    for (const word of wordsOf(part)) {
      if (conjunction.test(word)) isOpen = true;
      else if (isOpen && !leadIn.test(word)) {
        isOpen = false;
        if (actionVerb.test(word)) orders.add(word);
      }
    }
  }
  return orders.size;
}

/** Neither "and/or" nor "e.g" nor a version nor an address. */
function countFiles(prose: string) {
  const isPath = /^(?:\.{0,2}|~)\/[\w.@*-]|^[\w.@*-]+(?:\/[\w.@*-]+){2,}$/u;
  const isName = /^(?!\d)(?=.*[\w*]{2}.*\.)[\w./@*-]*[\w*]\.[a-z][a-z\d]{0,4}$/iu;
  // Longer tokens are data and would take the patterns long.
  const tokens = prose
    .split(/[\s"'`,;()[\]{}<>，、。：]+/u)
    .filter(({ length }) => length <= 200);
  const names = [...new Set(tokens.map((token) => token.replace(/[.:!?]+$/u, '')))];
  return names.filter(
    (name) => !name.includes('://') && (isPath.test(name) || isName.test(name)),
  ).length;
}

function readingLength(prose: string) {
  const dense = prose.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu,
  );
  return prose.length + 1.5 * (dense?.length ?? 0);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}'’-]+/gu) ?? [];
}

const anyOf = (...lines: readonly string[]) => `(?:${lines.join('|')})`;
const wholeWord = (...lines: readonly string[]) =>
  new RegExp(`^${anyOf(...lines)}$`, 'u');

/** No "next": it is more often a release, a week or a framework. */
const followingWords = anyOf(
  'then|after that|afterwards?|once that is done|finally|lastly|und dann|danach|anschlie(?:ß|ss)end|daraufhin',
  'zuletzt|zum schluss|schließlich|puis|ensuite|après cela|après ça|enfin|pour finir|luego|después',
  'a continuación|finalmente|por último|depois|em seguida|por fim|poi|dopodiché|infine|daarna|vervolgens',
  'ten slotte|sedan|därefter|slutligen|następnie|potem|na koniec|затем|потом|после этого|наконец|потім',
  'після цього|ardından|daha sonra|son olarak|ثم|بعد ذلك|وأخيرا|फिर|उसके बाद|अंत में',
);
const unspacedFollowingWords =
  '然后|然後|接着|接著|随后|隨後|之后再|最后|最後|その後|それから|次に|続いて|그런 다음|그 ?다음|그리고 나서|그 후|마지막으로';
const sequenceWord = new RegExp(
  `(?<= )${followingWords}(?= )|${unspacedFollowingWords}`,
  'gu',
);

const actionVerb = wholeWord(
  'add|build|change|check|clean|convert|create|delete|deploy|document|extract|fix|generate|implement',
  'install|integrate|merge|migrate|move|optimize|port|publish|refactor|release|remove|rename|replace',
  'rewrite|run|set|split|test|translate|update|upgrade|verify|write|make|configure|commit|push|review',
  'clone|compare|connect|copy|disable|download|duplicate|enable|export|extend|format|import|sort|upload|wrap',
  'kopiere|vergleiche|importiere|exportiere|sortiere|copie[rz]?|copia|copiez|kopieer|skopiuj|скопируй(?:те)?',
  'füge|baue|ändere|prüfe|erstelle|lösche|entferne|behebe|repariere|schreibe?|aktualisiere|ersetze|teste',
  'führe|migriere|benenne|verschiebe|installiere|dokumentiere|übersetze|veröffentliche|richte|implementiere',
  '(?:ajoute|corrige|crée|supprime|renomme|teste|remplace|implémente|vérifie)[rz]?|créer|écris|écrivez',
  'déploie|déployez|lance|mets|mettez|traduis|añade|agrega|arregla|crea|escribe|elimina|borra|actualiza',
  'reemplaza|prueba|ejecuta|despliega|implementa|migra|renombra|traduce|documenta|adicione|corrija|crie',
  'escreva|remova|atualize|substitua|execute|implemente|migre|aggiungi|correggi|scrivi|rimuovi|aggiorna',
  'sostituisci|esegui|verifica|rinomina|voeg|maak|schrijf|verwijder|vervang|voer|hernoem|herschrijf|dodaj',
  'napraw|utwórz|napisz|usuń|zaktualizuj|zmień|uruchom|przetestuj',
  '(?:добавь|исправь|создай|напиши|удали|обнови|замени|переименуй|запусти|проверь)(?:те)?',
  'ekle|düzelt|oluştur|yaz|sil|güncelle|değiştir|çalıştır',
);

/** Anywhere in a clause: these scripts often put the verb last. */
const unspacedActionVerbs =
  '添加|新增|修复|修復|编写|編寫|创建|建立|实现|重构|迁移|更新|删除|部署|重命名|替换|运行测试|測試|写测试|补充|追加|修正|作成|書いて|削除|実装|移行|実行|추가|수정|작성|삭제|구현|업데이트|배포|실행';

const questionWord = wholeWord(
  "what(?:'?s)?|why|how|when|who|which|where|whose|is|are|was|were|does|do|did|has|have|should|am|wie|warum",
  'wieso|weshalb|wann|wer|wo|welche[rs]?|ist|sind|hat|pourquoi|comment|quand|où|qui|quel(?:le)?s?',
  "qu'est-ce|est-ce|qué|por qué|por que|cómo|cuándo|dónde|cuál(?:es)?|quién|o que|como|quando|onde|qual",
  'cosa|che|perché|come|dove|quale|chi|wat|waarom|hoe|wanneer|waar|welke|co|dlaczego|jak|kiedy|gdzie|czy',
  'vad|varför|hur|när|что|почему|как|когда|где|кто|зачем|какой|какая|ne|neden|nasıl|nerede|ما|ماذا|لماذا',
  'كيف|متى|أين|هل|क्या|क्यों|कैसे|कब|कहाँ',
);

const leadIn = wholeWord(
  "please|pls|now|first|also|just|let'?s|can|could|you|to|must|i|want|need|bitte|zuerst|erst|dann|noch|auch",
  "kannst|du|s'il|te|vous|plaît|plait|d'abord|por|favor|primero|primeiro|per|favore|prima|eerst|graag",
  'najpierw|proszę|пожалуйста|сначала|önce|lütfen|next',
  followingWords,
);

const conjunction = wholeWord('and|und|sowie|et|y|e|ed|en|i|oraz|och|и|та|ve|و|और');
