// The words by which a request shows that it has several steps, in the languages people write to agents in.
// Lists only: what they are worth is decided in complexity.ts. A missing word costs a hint, nothing more.

/** Words by their bars, so that a language stays one readable line. */
function words(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split('|'));
}

/** "Do this, and then that." No "next": it is more often a release, a week or a framework. */
export const sequenceWords: readonly string[] = words(
  'and then|then|after that|afterwards|afterward|once that is done|finally|lastly',
  'und dann|danach|anschließend|anschliessend|daraufhin|zuletzt|zum schluss|schließlich',
  'et puis|puis|ensuite|après cela|après ça|enfin|pour finir',
  'y luego|luego|después|a continuación|finalmente|por último',
  'e depois|depois|em seguida|por fim|por último|e poi|poi|dopodiché|infine',
  'daarna|vervolgens|ten slotte|sedan|därefter|slutligen|następnie|potem|na koniec',
  'затем|потом|после этого|наконец|потім|після цього|ardından|daha sonra|son olarak',
  'ثم|بعد ذلك|وأخيرا|फिर|उसके बाद|अंत में',
);

/** The same in scripts that put no spaces between words. */
export const unspacedSequenceWords: readonly string[] = words(
  '然后|然後|接着|接著|随后|隨後|之后再|最后|最後|その後|それから|次に|続いて|그런 다음|그다음|그 다음|그리고 나서|그 후|마지막으로',
);

/** Orders to change something, as they stand at the beginning of a clause. */
export const actionVerbs: ReadonlySet<string> = new Set(
  words(
    'add|build|change|check|clean|convert|create|delete|deploy|document|extract|fix|generate|implement',
    'install|integrate|merge|migrate|move|optimize|port|publish|refactor|release|remove|rename|replace',
    'rewrite|run|set|split|test|translate|update|upgrade|verify|write|make|configure|commit|push|review',
    'füge|baue|ändere|prüfe|erstelle|lösche|entferne|behebe|repariere|schreibe|schreib|aktualisiere',
    'ersetze|teste|führe|migriere|benenne|verschiebe|installiere|dokumentiere|übersetze|veröffentliche',
    'richte|implementiere',
    'ajoute|ajoutez|ajouter|corrige|corrigez|corriger|crée|créez|créer|écris|écrivez|supprime|supprimez',
    'supprimer|renomme|renommez|teste|testez|déploie|déployez|lance|mets|mettez|remplace|remplacez',
    'implémente|implémentez|vérifie|vérifiez|traduis',
    'añade|agrega|arregla|corrige|crea|escribe|elimina|borra|actualiza|reemplaza|prueba|ejecuta',
    'despliega|implementa|migra|renombra|traduce|documenta|adicione|corrija|crie|escreva|remova',
    'atualize|substitua|teste|execute|implemente|migre',
    'aggiungi|correggi|scrivi|rimuovi|aggiorna|sostituisci|esegui|verifica|rinomina|voeg|maak|schrijf',
    'verwijder|vervang|voer|hernoem|herschrijf',
    'dodaj|napraw|utwórz|napisz|usuń|zaktualizuj|zmień|uruchom|przetestuj|добавь|добавьте|исправь',
    'исправьте|создай|создайте|напиши|напишите|удали|удалите|обнови|обновите|замени|замените|переименуй',
    'запусти|запустите|проверь|проверьте|ekle|düzelt|oluştur|yaz|sil|güncelle|değiştir|çalıştır',
  ),
);

/** Anywhere in a clause: these scripts put the verb where grammar wants it, often last. */
export const unspacedActionVerbs: readonly string[] = words(
  '添加|新增|修复|修復|编写|編寫|创建|建立|实现|重构|迁移|更新|删除|部署|重命名|替换|运行测试|測試|写测试|补充|追加|修正|作成|書いて|削除|実装|移行|実行|추가|수정|작성',
  '삭제|구현|업데이트|배포|실행',
);

/** With one of these a sentence asks to know something, not to have something done. */
export const questionWords: ReadonlySet<string> = new Set(
  words(
    "what|whats|what's|why|how|when|who|which|where|whose|is|are|was|were|does|do|did|has|have|should",
    'am|wie|warum|wieso|weshalb|wann|wer|wo|welche|welcher|welches|ist|sind|hat|pourquoi|comment|quand',
    "où|qui|quel|quelle|quels|quelles|qu'est-ce|est-ce|qué|por qué|por que|cómo|cuándo|dónde|cuál",
    'cuáles|quién|o que|como|quando|onde|qual|cosa|che|perché|come|dove|quale|chi|wat|waarom|hoe|wanneer',
    'waar|welke|co|dlaczego|jak|kiedy|gdzie|czy|vad|varför|hur|när|что|почему|как|когда|где|кто|зачем',
    'какой|какая|ne|neden|nasıl|nerede|ما|ماذا|لماذا|كيف|متى|أين|هل|क्या|क्यों|कैसे|कब|कहाँ',
  ),
);

/** Politeness and address in front of an order. */
export const leadIns: ReadonlySet<string> = new Set(
  words(
    "please|pls|now|first|also|just|let's|lets|can|could|you|to|must|i|want|need|bitte|zuerst|erst|dann",
    "noch|auch|kannst|du|s'il|te|vous|plaît|plait|d'abord|por|favor|primero|primeiro|per|favore|prima",
    'eerst|graag|najpierw|proszę|пожалуйста|сначала|önce|lütfen|then|next|finally|puis|ensuite|luego',
    'después|depois|poi|danach|anschließend|затем|потом|daarna|następnie|potem',
  ),
);

/** Where one order ends and the next may begin, inside a sentence. */
export const conjunctions: ReadonlySet<string> = new Set(
  words('and|und|sowie|et|y|e|ed|en|i|oraz|och|и|та|ve|و|और'),
);
