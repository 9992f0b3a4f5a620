//! Words that tell what a sentence is: general vocabulary of English, Spanish and German, and the most common words
//! of French, Portuguese, Italian, Russian, Chinese, Japanese and Korean.
//!
//! Phrases are written as [`crate::text::fold`] writes them, words as [`super::words::SentenceWords`] splits them.

/// What a word or phrase says about its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// Verbs that begin a lasting instruction.
    RuleVerb,
    /// Verbs that begin a request for one edit.
    EditVerb,
    /// What must not be done.
    Prohibition,
    /// "Let's" and its counterparts.
    Lets,
    /// Obligation.
    Should,
    /// What the user wants to have.
    Want,
    /// What the user commits to, or already does.
    Commitment,
    /// The user says that something was decided.
    Declaration,
    /// The user tells what made something fail.
    Cause,
    /// "Please", "can you".
    Request,
    /// Questions that propose: "can we use X?"
    DecidingQuestion,
    /// Verbs that state how things are.
    Stative,
    /// The next step of the work, and no rule.
    TaskStep,
    /// One thing in place of another.
    Instead,
    /// The agent was wrong.
    Correction,
    /// One and no other.
    Only,
    /// Every case.
    Every,
    /// Rules, defaults, conventions.
    General,
    /// A reason or purpose.
    Reason,
    /// What comes first.
    Order,
    /// Not now.
    Deferral,
    /// Words that begin a question.
    QuestionWord,
    /// How a screen looks.
    Screen,
    /// Something fails.
    Trouble,
    /// How the work is done.
    Process,
    /// What a system is made of.
    Architecture,
    /// Limits and facts from outside the project.
    Outside,
    /// What the product does.
    Product,
    /// The user reports what was seen or done.
    Report,
    /// Emphasis.
    Emphasis,
}

pub(super) const SENSES: &[(Sense, &str)] = &[
    (Sense::RuleVerb, RULE_VERB),
    (Sense::EditVerb, EDIT_VERB),
    (Sense::Prohibition, PROHIBIT),
    (Sense::Lets, LETS),
    (Sense::Should, SHOULD),
    (Sense::Want, WANT),
    (Sense::Commitment, COMMIT),
    (Sense::Declaration, DECLARE),
    (Sense::Cause, CAUSE),
    (Sense::Request, POLITE_REQUEST),
    (Sense::DecidingQuestion, DECIDING_QUESTION),
    (Sense::Stative, STATIVE),
    (Sense::TaskStep, TASK),
    (Sense::Instead, INSTEAD),
    (Sense::Correction, CORRECT),
    (Sense::Only, ONLY),
    (Sense::Every, ALL),
    (Sense::General, GENERAL),
    (Sense::Reason, REASON),
    (Sense::Order, ORDER),
    (Sense::Deferral, DEFER),
    (Sense::QuestionWord, WH),
    (Sense::Screen, UI),
    (Sense::Trouble, ERROR),
    (Sense::Process, PROCESS),
    (Sense::Architecture, ARCHITECTURE),
    (Sense::Outside, OUTSIDE),
    (Sense::Product, PRODUCT),
    (Sense::Report, REPORT),
    (Sense::Emphasis, EMPHASIS),
];

/// What the turn after a statement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerSense {
    Acknowledgement,
    Confirmation,
    Failure,
    Withdrawal,
}

pub(super) const ANSWERS: &[(AnswerSense, &str)] = &[
    (AnswerSense::Acknowledgement, ACKNOWLEDGEMENT),
    (AnswerSense::Confirmation, CONFIRMATION),
    (AnswerSense::Failure, FAILURE),
    (AnswerSense::Withdrawal, WITHDRAWAL),
];

/// Words before the one that gives a sentence its form.
pub(super) const FILLERS: &[&str] = &[
    "please", "pls", "ok", "okay", "and", "then", "also", "so", "now", "just", "but", "well", "yes", "no",
    "oh", "hey", "right", "great", "good", "perfect", "thanks", "hmm", "first", "next", "finally",
    "actually", "still", "i", "think", "we", "por", "favor", "bitte", "und", "dann", "y", "luego",
    "entonces", "s", "il", "te", "plait", "et", "e", "и",
];

/// A sentence that begins with one of these states something about things.
pub(super) const SUBJECTS: &[&str] = &[
    "the", "there", "our", "each", "all", "every", "el", "la", "los", "las", "hay", "un", "una", "der",
    "die", "das", "es", "le", "les", "il",
];

/// Written in capitals they stress; other words in capitals are names.
pub(super) const STRESSED: &[&str] = &[
    "not", "no", "only", "never", "always", "all", "every", "must", "do", "dont", "first", "before", "after",
    "exactly", "very", "any", "same", "just", "one", "single", "this", "is", "stop", "and",
];

/// Words that say nothing about the content of a statement.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "the", "and", "are", "this", "that", "with", "you", "your", "our", "its", "not", "can", "from", "have",
    "has", "will", "was", "were", "but", "all", "any", "use", "just", "should", "need", "want", "like",
    "when", "then", "there", "they", "them", "for", "que", "los", "las", "una", "para", "con", "por", "der",
    "die", "das", "und", "den", "ein", "eine", "ist", "mit", "von", "fur", "auf", "dem", "nicht", "les",
    "des", "une", "est", "pour", "dans", "she",
];

/// "X, not Y" in scripts without spaces.
pub(super) const CONTRASTS: &[&str] = &["不是", "而不", "ではなく", "아니라"];

/// Verbs that begin a lasting instruction.
const RULE_VERB: &str = "\
    use, using, keep, avoid, prefer, follow, stick, stay, reuse, respect, preserve, maintain, \
    ensure, make sure, be sure, be careful, leave, treat, assume, stop, never, always, default, \
    store, separate, restrict, limit, consider, favor, favour, adhere, rely, ask me, tell me, \
    let me know, usa, usar, utiliza, utilizar, evita, evitar, manten, mantener, asegurate, respeta, \
    sigue, deja, prefiere, nutze, verwende, benutze, vermeide, behalte, achte, stelle sicher, \
    halte, bleib, lass, utilise, utiliser, evite, garde, garder, assure toi, use o, utilize, \
    mantenha, garanta, usa il, evita di, assicurati, используи, используите, использовать, избегаи, \
    не забудь, убедись, оставь, оставляи, соблюдаи, 使用, 避免, 保持, 遵守, 确保, 尽量, 采用, 統一, 统一, 使って, 避けて, \
    사용하";

/// Verbs that begin a request for one edit.
const EDIT_VERB: &str = "\
    add, fix, change, remove, update, run, show, implement, create, check, write, move, rename, \
    delete, build, generate, make, put, set, try, look, read, review, refactor, display, replace, \
    test, deploy, commit, push, merge, install, convert, continue, proceed, start, open, help, \
    explain, tell, give, find, improve, adjust, modify, edit, clean, debug, analyze, analyse, \
    investigate, explore, redo, undo, revert, restore, list, search, examine, summarize, document, \
    integrate, extract, copy, apply, increase, decrease, center, align, hide, resolve, finish, \
    complete, do, go, get, print, save, load, import, export, connect, rewrite, simplify, sort, \
    filter, style, migrate, upgrade, execute, enable, disable, compare, describe, anade, agrega, \
    arregla, corrige, cambia, quita, elimina, borra, actualiza, ejecuta, muestra, implementa, crea, \
    revisa, escribe, mueve, haz, pon, prueba, busca, lee, genera, continua, explica, fuge, andere, \
    entferne, losche, aktualisiere, zeige, erstelle, schreibe, prufe, mach, mache, teste, baue, \
    erklare, fuhre, starte, korrigiere, ajoute, supprime, cree, creer, montre, fais, verifie, \
    lance, ecris, adicione, crie, corrija, altere, remova, mostre, faca, verifique, aggiungi, \
    correggi, rimuovi, mostra, fai, esegui, controlla, scrivi, добавь, исправь, измени, удали, \
    обнови, запусти, покажи, создаи, проверь, напиши, сделаи, посмотри, даваи, 添加, 修改, 删除, 创建, 修复, \
    检查, 显示, 改成, 更新, 实现, 运行, 查看, 追加して, 修正して, 削除して, 作成して, 추가, 수정, 삭제";

/// What must not be done.
const PROHIBIT: &str = "\
    never, no need to, must not, mustnt, should not, shouldnt, not allowed, stay away, refrain, \
    without touching, no uses, no usar, no hagas, no toques, no cambies, no quiero, nunca, no debe, \
    no deberia, sin tocar, niemals, auf keinen fall, ne pas, nao use, nao faca, non usare, \
    non fare, не надо, не нужно, нельзя, никогда, не используи, не трогаи, 不要, 不能, 不得, 禁止, 别, 不用, \
    不需要, しないで, 하지 마, 하지마, avoid, dont, do not, please dont, nicht mehr, nicht verwenden, \
    nicht benutzen, keine neuen, ne jamais, stop using, stop doing, no more, we dont, we do not";

/// "Let's" and its counterparts.
const LETS: &str = "\
    let us, lets, let s, vamos a, hagamos, usemos, dejemos, lass uns, lasst uns, wir nehmen, \
    wir machen, on va, faisons, vamos, facciamo, usiamo, даваи, даваите, 咱们, にしよう, しましょう, 하자, 합시다";

/// Obligation.
const SHOULD: &str = "\
    should, shouldnt, mustnt, ought, needs to, has to, supposed to, required to, expected to, debe, \
    deben, deberia, deberian, hay que, tiene que, tienen que, tenemos que, necesita, necesitamos, \
    se debe, soll, sollen, sollte, sollten, muss, mussen, musste, braucht, doit, doivent, devrait, \
    il faut, deve, devem, devono, dovrebbe, bisogna, precisa, precisamos, tem que, должен, должна, \
    должно, должны, нужно, необходимо, следует, 应该, 必须, 需要, 应当, 要求, べき, 必要, 해야, 필요, must, \
    we need to, it needs to, they need to, it has to, have to be, need to be, needs to be, надо";

/// What the user wants to have.
const WANT: &str = "\
    i want, we want, we need, i would like, i d like, we would like, i prefer, i would prefer, \
    i would rather, i like, we like, i dont want, i do not want, i would love, i wish, quiero, \
    queremos, necesito, prefiero, me gustaria, preferimos, ich will, ich mochte, wir wollen, \
    wir mochten, mir ist lieber, ich brauche, ich hatte gern, je voudrais, nous voulons, \
    je prefere, eu quero, quero, prefiro, gostaria, vorrei, preferisco, хочу, хотим, хотелось бы, \
    мне нужно, предпочитаю, 我想, 我希望, 希望, 我们希望, 我要, 想要, 欲しい, したい, ほしい, 원해, 싶, we d like, i d prefer, \
    i d rather, we don t want, we dont want, we do not want, would rather, i like to, \
    i m fine with, we re fine with, ok with";

/// What the user commits to, or already does.
const COMMIT: &str = "\
    i will, we will, i am going to, we are going to, going with, go with, stick with, \
    sticking with, stay with, we use, we are using, settle on, opt for, \
    lets go with, we keep, we never, we always, we only, usaremos, voy a, \
    vamos con, me quedo con, nos quedamos con, usamos, ich werde, wir werden, wir nutzen, \
    wir verwenden, wir bleiben bei, wir nehmen, on utilise, nous utilisons, usiamo, мы используем, \
    мы будем, будем, 我们使用, 我们用, 我会, 就用, i ll, we ll, i m going to, we re going to, we re using, \
    i am using, i m using, we are not, we re not";

/// A decision that was made, and is only reported here.
const DECLARE: &str = "\
    we decided, we have decided, we ve decided, weve decided, i decided, i have decided, i ve decided, ive decided, \
    we chose, i chose, we have chosen, we ve chosen, we agreed, we have agreed, we ve agreed, it was decided, \
    it s decided, we settled on, we went with, the decision is, our decision is, the decision was, \
    decidimos, hemos decidido, he decidido, acordamos, hemos acordado, la decision es, \
    wir haben uns entschieden, wir haben entschieden, wir haben beschlossen, wir haben uns geeinigt, \
    ich habe mich entschieden, es ist entschieden, die entscheidung ist";

/// What made something fail.
const CAUSE: &str = "\
    found it, found the bug, found the problem, found the issue, found the cause, root cause, the cause is, \
    the cause was, the culprit, turns out, turned out, the problem was, the issue was, the reason was, the bug was, \
    was caused by, is caused by, lo encontre, la causa es, la causa era, el problema era, resulta que, \
    ich habe es gefunden, gefunden, die ursache ist, die ursache war, das problem war, lag daran, liegt daran";

/// "Please", "can you".
const POLITE_REQUEST: &str = "\
    can you, could you, would you, will you, can u, please, pls, plz, por favor, puedes, podrias, \
    bitte, kannst du, konntest du, s il te plait, peux tu, pode, poderia, puoi, per favore, \
    пожалуиста, можешь, 请, 帮我, 能不能, ください, 주세요";

/// Questions that propose: "can we use X?"
const DECIDING_QUESTION: &str = "\
    can we, could we, shall we, should we, why not, why dont we, how about, what about, cant we, \
    podemos, podriamos, por que no, konnen wir, sollen wir, warum nicht, peut on, possiamo, может, \
    可以, 能否";

/// Verbs that state how things are.
const STATIVE: &str = "\
    is, are, was, were, isnt, arent, has, have, contains, lives, supports, works, runs, uses, \
    means, exists, belongs, depends, requires, comes, stores, holds, provides, expects, returns, \
    es, esta, estan, son, tiene, hay, usa, ist, sind, hat, gibt, lauft, est, sont, ont, contient, \
    sao, tem, sono, это, есть, является, 是, 有";

/// The next step of the work, and no rule.
const TASK: &str = "\
    help me, i need help, i need to, i am trying to, i m trying to, im trying to, i would like to, \
    i d like to, i want to, i want you to, i need you to, id like to, i have to, let s continue, \
    lets continue, let s start, lets start, let s begin, lets begin, let s proceed, lets proceed, \
    let s move on, lets move on, let s see, lets see, let s look, lets look, let s try, lets try, \
    let s check, lets check, let s review, lets review, let s do, lets do, let s add, lets add, \
    let s fix, lets fix, let s work, lets work, let s create, lets create, let s make, lets make, \
    let s implement, lets implement, let s get, lets get, let s test, lets test, keep working, \
    keep going, next step, next steps, next task, walk me through, give me, show me, can you help, \
    tell me about, let me know if, would you like me, go ahead, ayudame, necesito que, quiero que, \
    siguiente paso, vamos a empezar, muestrame, dame, hilf mir, nachster schritt, zeig mir, \
    gib mir, lass uns weiter, aide moi, montre moi, me ajude, aiutami, помоги, покажи, \
    следующии шаг, 帮我, 下一步, 手伝って, 도와";

/// One thing in place of another.
const INSTEAD: &str = "\
    instead, rather than, instead of, back to, go back, revert back, no longer, not anymore, \
    anymore, switch to, switch from, en lugar de, en vez de, mas bien, volver a, ya no, statt, \
    stattdessen, anstatt, sondern, zuruck zu, nicht mehr, au lieu de, plutot, em vez de, ao inves, \
    invece di, piuttosto, вместо, а не, 而不是, 代替, 改用, 换成, 而是, 代わりに, 대신, i d rather, would rather, \
    better to, better that, drop the, get rid of, moving from, away from";

/// The agent was wrong.
const CORRECT: &str = "\
    i meant, i mean, i thought, actually, wrong, incorrect, not correct, not right, thats not, \
    that is not, this is not, it is not, not what i, misunderstood, mistake, you forgot, \
    you missed, you didnt, you did not, you shouldnt, why did you, why are you, terrible, \
    en realidad, quise decir, equivocado, incorrecto, no es, te equivocas, eigentlich, falsch, \
    ich meinte, nicht richtig, das ist nicht, en fait, je voulais dire, faux, na verdade, errado, \
    in realta, sbagliato, на самом деле, неправильно, я имел в виду, неверно, 不对, 错了, 我的意思, 其实, 不是, \
    違う, 間違, 아니라, 틀렸, it s not, that s not, no this, no that, no it, no i, no dont, no the, no we, \
    nope, nein, no not, no use, isnt what, not how, not the way";

/// One and no other.
const ONLY: &str = "\
    only, solely, exclusively, single, solamente, unicamente, nur, ausschliesslich, einzige, \
    seulement, uniquement, apenas, somente, soltanto, только, лишь, единственныи, 只, 仅, 只有, 只能, 唯一, \
    だけ, のみ, 만, just the, nothing else, no other, nothing but, just one";

/// Every case.
const ALL: &str = "\
    every, all, each, everywhere, everything, always, never, whenever, todas, cada, siempre, nunca, \
    cualquier, alle, alles, jede, jeder, jedes, immer, nie, uberall, tous, toutes, chaque, \
    toujours, tudo, sempre, qualquer, tutti, tutte, ogni, все, всех, каждыи, всегда, везде, любои, \
    所有, 每个, 每次, 全部, 都, 任何, 始终, すべて, 全て, 常に, 모든, 항상, todos los, in all cases, no matter, anywhere, \
    across, throughout, every time, each time";

/// Rules, defaults, conventions.
const GENERAL: &str = "\
    in general, generally, by default, default, standard, convention, conventions, consistent, \
    consistency, consistently, guideline, guidelines, rule, rules, policy, best practice, \
    from now on, going forward, next time, source of truth, principle, principles, en general, \
    por defecto, estandar, convencion, regla, reglas, coherente, generell, grundsatzlich, \
    standardmassig, regel, regeln, einheitlich, ab jetzt, kunftig, par defaut, regle, por padrao, \
    regra, regola, вообще, по умолчанию, правило, стандарт, единыи, 默认, 规范, 规则, 一致, 标准, 以后, 通常, 今後, \
    標準, 기본, 규칙, 앞으로";

/// A reason or purpose.
const REASON: &str = "\
    because, bc, cuz, since, so that, so we, so i, so it, in order to, due to, as it, as we, as i, \
    therefore, thats why, which means, otherwise, reason, as this, porque, ya que, para que, \
    debido, asi que, por eso, weil, da wir, da es, damit, deshalb, sonst, wegen, denn, parce que, \
    car, pour que, afin, puisque, pois, perche, poiche, cosi, потому что, так как, чтобы, поэтому, \
    иначе, 因为, 由于, 以便, 所以, 否则, 因此, から, ので, ため, 때문, 위해";

/// What comes first.
const ORDER: &str = "\
    first, before, until, step by step, along the way, afterwards, prior to, beforehand, at a time, \
    primero, antes, zuerst, erst, bevor, nachdem, vorher, d abord, avant, primeiro, prima, сначала, \
    перед, прежде, 先, 之前, 首先, まず, 前に, 後で, 먼저, 후에, only after, not until, after we, once we, \
    once you, before you, first then";

/// Not now.
const DEFER: &str = "\
    for now, later, backlog, todo, time being, not now, skip, skipped, postpone, placeholder, \
    temporary, temporarily, someday, eventually, for future, down the road, follow up, workaround, \
    quick and dirty, phase 2, v2, next version, not yet, as of now, por ahora, mas tarde, \
    mas adelante, de momento, pendiente, dejalo, temporal, provisional, futuro, vorerst, erstmal, \
    spater, einstweilen, vorlaufig, zunachst, zukunft, pour l instant, plus tard, pour le moment, \
    provisoire, por enquanto, mais tarde, per ora, piu tardi, пока, позже, временно, 暂时, 以后, 后面, \
    先不, 待办, 后续, 将来, とりあえず, 後で, 今は, 나중에, 일단, todos, in the future, later on, at a later, \
    another time, come back to";

/// Words that begin a question.
const WH: &str = "\
    what, how, why, where, who, whats, hows, wheres, is there, are there, do we, do you, did you, \
    have you, are you, por que, donde, cual, quien, warum, wo, welche, welcher, gibt es, ist das, \
    hast du, quoi, comment, pourquoi, quel, quelle, est ce, o que, onde, qual, perche, dove, quale, \
    почему, где, какои, какая, 什么, 怎么, 为什么, 哪, 吗, 如何, 何, どう, なぜ, どこ, 무엇, 어떻게, 왜, is it, does it, \
    is this, what s, how s, que es, como puedo, was ist, wie kann, i wonder, do i, am i, should i, \
    should we, can i, could it, tell me how, any idea, i m not sure, im not sure, not sure";

/// How a screen looks.
const UI: &str = "\
    button, buttons, color, colors, colour, font, fonts, icon, icons, margin, padding, pixel, px, \
    width, height, align, alignment, center, centered, left, right, top, bottom, corner, \
    background, header, footer, sidebar, modal, dropdown, hover, animation, layout, border, blue, \
    red, green, white, black, dark, bigger, smaller, larger, size, scroll, text, title, page, \
    screen, menu, tab, column, row, css, style, styling, card, popup, tooltip, placeholder, boton, \
    botones, fuente, icono, margen, fondo, ancho, alto, pantalla, pagina, azul, rojo, verde, \
    tamano, titulo, knopf, schaltflache, farbe, schrift, symbol, rand, breite, hohe, hintergrund, \
    seite, bildschirm, blau, rot, grun, grosser, kleiner, bouton, couleur, police, largeur, botao, \
    cor, fonte, pulsante, colore, кнопка, кнопку, цвет, шрифт, отступ, фон, экран, 按钮, 颜色, 字体, 图标, \
    背景, 宽度, 高度, 页面, 居中, 样式, 显示, 弹窗, ボタン, 色, 버튼, 색";

/// Something fails.
const ERROR: &str = "\
    error, errors, fail, fails, failed, failing, failure, broken, breaks, crash, crashes, crashed, \
    bug, bugs, issue, issues, problem, problems, exception, doesnt work, does not work, \
    not working, isnt working, didnt work, warning, stuck, wrong, missing, still, again, fallo, \
    falla, problema, roto, no funciona, sigue, fehler, kaputt, funktioniert nicht, geht nicht, \
    absturz, immer noch, erreur, probleme, ne marche pas, erro, nao funciona, errore, non funziona, \
    ошибка, ошибки, ошибку, не работает, проблема, сломал, 错误, 报错, 失败, 问题, 不行, エラー, 失敗, 오류, 에러";

/// How the work is done.
const PROCESS: &str = "\
    plan, plans, approve, approval, review, test, tests, testing, tested, commit, commits, branch, \
    branches, pr, pull request, changelog, ask, asking, explain, propose, proposal, discuss, \
    document, documentation, docs, step, steps, verify, validate, confirm, permission, implement, \
    implementing, implementation, write, refactor, question, questions, guidelines, plan de, \
    aprobar, revisar, prueba, pruebas, rama, preguntar, documentar, planen, genehmigen, prufen, \
    testen, zweig, fragen, dokumentation, approuver, essai, branche, aprovar, teste, testes, \
    approvare, ramo, план, тест, тесты, ветка, ветку, документац, 计划, 测试, 分支, 提交, 文档, 方案, テスト, 計画, \
    ブランチ, 테스트, 계획, maintainable, readable, clean code, naming, comments, best practices, unit test, \
    unit tests, mocks, step by step";

/// What a system is made of.
const ARCHITECTURE: &str = "\
    database, api, server, backend, frontend, client, library, libraries, framework, dependency, \
    dependencies, package, packages, module, modules, architecture, structure, approach, schema, \
    table, service, services, interface, interfaces, class, classes, component, components, model, \
    models, config, configuration, env, environment, endpoint, endpoints, cache, caching, storage, \
    auth, authentication, login, token, tokens, migration, logic, data, format, feature, version, \
    system, file, files, folder, directory, repo, repository, base de datos, servidor, biblioteca, \
    dependencia, arquitectura, estructura, esquema, tabla, servicio, datos, archivo, archivos, \
    carpeta, datenbank, bibliothek, abhangigkeit, architektur, struktur, tabelle, dienst, \
    schnittstelle, daten, datei, dateien, ordner, base de donnees, serveur, fichier, donnees, \
    banco de dados, arquivo, dados, file system, база данных, сервер, библиотека, фаил, данные, \
    таблица, 数据库, 框架, 依赖, 接口, 服务, 数据, 文件, 环境, 架构, 系统, データベース, ライブラリ, 依存, 데이터베이스, 라이브러리";

/// Limits and facts from outside the project.
const OUTSIDE: &str = "\
    not supported, doesnt support, does not support, only supports, not available, not possible, \
    not allowed, limited to, at most, maximum, minimum, no more than, not longer than, per second, \
    per day, per month, limit, public, licensed, license, law, laws, legal, gdpr, budget, \
    compliance, quota, no soporta, no disponible, maximo, limite, ley, publico, unterstutzt nicht, \
    nicht verfugbar, hochstens, grenze, gesetz, offentlich, nicht moglich, не поддерживает, \
    не поддерживается, максимум, закон, 不支持, 限制, 最多, 法律, 只支持, production, prod, staging, deployed, \
    deployment, hosting, hosted, cpu, ram, gb, machine, laptop, docker, aws, azure, cloud, linux, \
    windows, macos, ios, android, browser, browsers, customer, customers, company, country, \
    produccion, despliegue, clientes, produktion, kunde, kunden, firma, rechner, продакшн, 线上, 生产, \
    环境, 服务器, 部署, 本番, 서버, publicly, open source, third party, vendor, self hosted, rate limit, \
    timezone, time zone, regulation";

/// What the product does.
const PRODUCT: &str = "\
    feature, user, users, mode, app, application, program, product, option, options, behavior, \
    behaviour, output, input, command, field, value, values, name, names, id, ids, list, item, \
    items, entry, type, kind, setting, settings, function, functionality, workflow, process, goal, \
    purpose, primary, main, aplicacion, programa, opcion, comportamiento, salida, campo, valor, \
    nombre, funcion, objetivo, anwendung, programm, verhalten, ausgabe, feld, wert, ziel, zweck, \
    функция, приложение, поле, значение, 功能, 用户, 项目, 模式, 字段, 選択, 機能";

/// The user reports what was seen or done.
const REPORT: &str = "\
    i ran, i run, i get, i got, i see, i saw, i tried, i am getting, i m getting, im getting, \
    i still, i cant see, i noticed, i found, i have, i ve, ive, i am seeing, i m seeing, im seeing, \
    it says, it shows, it seems, here s, heres, here is, here are, i did, i added, i just, obtengo, \
    veo, he probado, he intentado, me sale, ich bekomme, ich sehe, ich habe, es kommt, j ai, \
    je vois, eu vi, eu tenho, ho provato, vedo, я вижу, я запустил, у меня, вижу, 我看到, 出现, 我发现, \
    表示される, 나타";

/// Emphasis.
const EMPHASIS: &str = "\
    important, critical, crucial, remember, careful, extremely, please note, note that, \
    keep in mind, essential, importante, clave, recuerda, wichtig, unbedingt, denk daran, merke, \
    essentiel, важно, обязательно, помни, 重要, 注意, 记住, 一定, 务必, 严格, 必ず, 중요, 반드시, take care, \
    pay attention, be aware, mind that, bear in mind, no matter";

/// The first words of an agent that accepts a correction or a rule.
const ACKNOWLEDGEMENT: &str = "\
    you re right, youre right, you are right, you re absolutely right, you re totally right, \
    you are absolutely right, good point, good catch, great point, makes sense, that makes sense, \
    got it, understood, i understand, i see, i apologize, apologies, sorry, my mistake, noted, \
    fair point, that s right, absolutely, agreed, good call, ah, tienes razon, entendido, \
    de acuerdo, perdon, disculpa, lo siento, tiene sentido, claro, du hast recht, sie haben recht, \
    verstanden, entschuldigung, guter punkt, stimmt, alles klar, vous avez raison, tu as raison, \
    compris, desole, bien vu, voce tem razao, voce esta certo, entendi, desculpe, hai ragione, \
    capito, scusa, вы правы, ты прав, понял, понятно, извините, 你说得对, 您说得对, 明白, 理解, 抱歉, 对不起, 了解, \
    おっしゃる通り, わかりました, 承知, 申し訳, 맞습니다, 알겠습니다, 죄송";

/// The user confirms that something works.
const CONFIRMATION: &str = "\
    works, it works, works now, working now, it worked, that worked, fixed, that s it, solved, \
    resolved, perfect, great, awesome, nice, excellent, good job, well done, thanks, thank you, \
    looks good, passes, passing, all tests pass, tests pass, success, successful, successfully, \
    funciona, ya funciona, perfecto, gracias, genial, arreglado, funktioniert, klappt, perfekt, \
    danke, super, lauft jetzt, ca marche, parfait, merci, funcionou, perfeito, obrigado, funziona, \
    perfetto, grazie, работает, заработало, отлично, спасибо, 好了, 可以了, 成功, 谢谢, 没问题, 動いた, 動きました, \
    ありがとう, 됩니다, 감사";

/// The user says that it still fails.
const FAILURE: &str = "\
    still, again, error, errors, failed, fails, failing, doesnt work, does not work, not working, \
    didnt work, isnt working, broken, wrong, same error, same issue, not fixed, nope, exception, \
    sigue, todavia, no funciona, fallo, immer noch, funktioniert nicht, geht nicht, fehler, \
    toujours, ne marche pas, erreur, ainda, nao funciona, erro, ancora, non funziona, errore, \
    все еще, не работает, ошибка, 还是, 报错, 错误, 不行, まだ, エラー, 아직, 오류";

/// The user takes back what was said.
const WITHDRAWAL: &str = "\
    never mind, nevermind, forget it, forget that, scratch that, undo, revert, revert that, \
    roll back, changed my mind, on second thought, ignore that, disregard, olvidalo, deshaz, \
    mejor no, cambie de idea, vergiss es, doch nicht, mach das ruckgangig, oublie, annule, \
    laisse tomber, esquece, desfaz, deixa, lascia stare, annulla, забудь, отмени, 算了, 撤销, 回滚, やっぱり, \
    元に戻して, 취소";

#[cfg(test)]
mod tests {
    use super::super::explicit::REQUESTS;
    use super::super::runbook::FINDINGS;
    use super::super::words::{SentenceWords, phrases};
    use super::*;
    use crate::text::{fold, writes_no_blanks};

    // A phrase in another spelling would never be found.
    #[test]
    fn phrases_are_written_as_sentences_are_split() {
        let lists = SENSES.iter().map(|(_, list)| *list);
        let lists = lists.chain(ANSWERS.iter().map(|(_, list)| *list));
        let lists = lists.chain(REQUESTS.iter().map(|(_, list)| *list));
        for list in lists.chain(FINDINGS.iter().map(|(_, list)| *list)) {
            let mut all: Vec<&str> = phrases(list).collect();
            for phrase in &all {
                assert_eq!(fold(phrase), *phrase);
                if !phrase.contains(writes_no_blanks) {
                    let words = SentenceWords::new(phrase);
                    assert_eq!(words.iter().collect::<Vec<_>>().join(" "), *phrase);
                }
            }
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "a phrase is there twice: {list}");
        }
    }
}
