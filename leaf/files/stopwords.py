"""Words that carry grammar and no subject, by language: how a text's language is known, and what a
query can do without.

Accents are left out, as in the index. The names of languages are those of the Snowball stemmers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

STOPWORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": (
            "a about above after again against all also am an and any are as at be because been "
            "before being below between "
            "both but by can could did do does doing down during each for from further had has "
            "have having he her here hers "
            "him his how i if in into is it its just me more most my no nor not of off on once "
            "only or other our out over own "
            "same she should so some such than that the their them then there these they this "
            "those through to too under "
            "until up very was we were what when where which while who whom whose why will with "
            "would you your"
        ),
        "german": (
            "aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist "
            "da dabei damit dann das dass "
            "dein dem den denn der des dessen die dies diese diesem diesen dieser dieses doch "
            "dort du durch ein eine einem "
            "einen einer eines er es etwas euch fur habe haben hat hatte hatten hier hinter ich "
            "ihm ihn ihnen ihr ihre ihrem "
            "ihren ihrer im in ist ja jede jedem jeden jeder jedes kann kein keine keinen konnen "
            "man mehr mein mich mir mit "
            "nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie "
            "sind so soll uber um und uns "
            "unser unter vom von vor war waren was weil welche welchem welchen welcher welches "
            "wenn wer werden wie wir wird "
            "wo wurde wurden zu zum zur zwischen"
        ),
        "french": (
            "a ai ainsi alors au aux avec avoir c ce ceci cela ces cet cette ceux comme d dans de "
            "des donc dont du elle elles "
            "en encore entre est et etaient etait ete etre eu font il ils j je l la le les leur "
            "leurs lors lui m ma mais me "
            "meme mes moi mon n ne nos notre nous on ont ou par pas pendant plus pour qu quand "
            "que quel quelle quelles quels "
            "qui quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous tout toute "
            "toutes tres tu un une vers "
            "vos votre vous y"
        ),
        "spanish": (
            "a al algo ante antes como con contra cual cuales cuando de del desde donde dos "
            "durante e el ella ellas ellos en "
            "entre era eran es esa ese eso esta estaba estado estan estar estas este esto estos "
            "fue fueron ha han hasta hay "
            "la las le les lo los mas me mi mientras muy nada ni no nos nosotros o os otra otras "
            "otro otros para pero poco "
            "por porque que quien quienes se sea segun ser si sido sin sobre son su sus tambien "
            "tanto te tiene tienen todo "
            "todos tu tus un una uno unos y ya yo"
        ),
        "italian": (
            "a ad agli ai al alla alle allo anche che chi ci come con contro cosa cui da dagli "
            "dai dal dalla dalle dallo "
            "degli dei del dell della delle dello di dove e ed era erano essere fra gli ha hanno "
            "ho i il in io la le lei li "
            "lo loro lui ma mi mia mio ne negli nei nel nella nelle nello noi non nostra nostro o "
            "per perche piu quale quali "
            "quando quanto quella quelle quelli quello questa queste questi questo se sei si sia "
            "siamo sono sta stata stati "
            "stato su sua sue sugli sui sul sulla sulle suo tra tu un una uno voi"
        ),
        "portuguese": (
            "a ao aos aquela aquele as ate com como da das de dela dele deles depois do dos e ela "
            "elas ele eles em entre era "
            "eram essa esse esta estao estas este estes eu foi foram ha isso isto ja lhe mais mas "
            "me mesmo meu minha muito na "
            "nao nas nem no nos nossa nosso num numa o os ou para pela pelas pelo pelos por "
            "porque qual quando que quem sao "
            "se sem ser seu seus sobre sua suas tambem te tem ter teu tinha um uma voce"
        ),
        "dutch": (
            "aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen "
            "door dus een eens en er ge "
            "geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is "
            "ja je kan kon kunnen maar "
            "me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op "
            "over reeds te tegen toch "
            "toen tot u uit uw van veel voor want waren was wat werd wezen wie wil worden wordt "
            "zal ze zelf zich zij zijn zo "
            "zonder zou"
        ),
        "swedish": (
            "alla allt att av blev bli blir da dar de dem den denna deras dess dessa det detta "
            "dig din dina ditt du efter ej "
            "eller en er ett for fran ha hade han hans har henne hennes hon honom hur i icke "
            "ingen inom inte jag ju kan kunde "
            "man med mellan men mig min mina mitt mot mycket nagon nagot nagra nar ni nu och om "
            "oss pa sa samma sedan sig sin "
            "sina sitt sjalv skulle som till under upp ut utan vad var vara varit vem vi vid vilken"
        ),
        "danish": (
            "af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig "
            "din disse dog du efter eller "
            "en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis "
            "hvor i ikke ind jeg jo kunne "
            "man mange med meget men mig min mine mit mod nar ned noget nogle nu og ogsa om op os "
            "over pa sadan selv sig sin "
            "sine sit skal skulle som thi til ud under var vi vil ville vor"
        ),
        "norwegian": (
            "alle at av bare ble bli blir da de deg dem den denne der deres det dette di din "
            "disse du eller en enn er et "
            "etter for fra ha hadde han hans har hennes her hos hun hva hver hvis hvor hvordan "
            "hvorfor i ikke ingen inn ja "
            "jeg kan kunne man mange med meg meget mellom men mer min mot nar noe noen og ogsa om "
            "opp oss over pa sa samme "
            "seg selv sin sine sitt skal skulle som til ut uten vaere var vart ved vi vil ville"
        ),
        "finnish": (
            "ehka ei eivat en etta han hanen he ja jo joka jos jossa jotka kanssa koska kuin kun "
            "me mika mina missa mita "
            "mutta myos ne niin nyt oli olivat olla on ovat se seka sen siina sina taas tai tama "
            "taman te tuo vaan vai vain "
            "voi yli"
        ),
        "polish": (
            "aby albo ale ani az bardzo bez bo by byc byl byla bylo byly co czy dla do gdy gdzie "
            "go i ich ile im ja jak jako "
            "je jego jej jesli jest jeszcze juz kiedy kto ktora ktore ktorej ktory ktorych lub ma "
            "mnie moze mu my na nad nam "
            "nas nie nim niz o od on ona one oni oraz po pod przed przez przy sa sie sobie swoje "
            "ta tak takze tam te tego tej "
            "ten to tu tylko tym u w we wiec wszystko z za ze zeby"
        ),
        "russian": (
            "а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже "
            "для до его ее если есть еще "
            "же за здесь и из или им их к как ко когда кто ли либо мне может мы на над надо наш "
            "не него нее нет ни них но ну "
            "о об однако он она они оно от очень по под после при с со так также такои там те тем "
            "то того тоже тои только том "
            "ты у уже хотя чего чеи чем что чтобы чье эта эти это этого этои этом я"
        ),
    }.items()
}
SEEN = 4_000
"""Words of a text by which its language is known."""
LEAST_SHARE = 0.05
"""Share of a text's words that must be stopwords of its language; running text has 30 to 60 %, a
table of names next to none."""
LEAST = 3


def languages(words: Iterable[str]) -> tuple[str, ...]:
    """The languages of a text by its folded words, most certain first; none for codes, numbers and
    names alone.

    Languages with a vocabulary in common, such as Danish and Norwegian, may both be given: which it
    is makes no difference.
    """
    seen = Counter(word for _, word in zip(range(SEEN), words, strict=False))
    counts = Counter(
        {name: sum(seen[word] for word in stopwords) for name, stopwords in STOPWORDS.items()}
    )
    most = max(counts.values())
    least = max(LEAST, most / 2, seen.total() * LEAST_SHARE)
    return tuple(name for name, count in counts.most_common() if count >= least)


def without_stopwords(words: Iterable[str], spoken: Iterable[str]) -> list[str]:
    """The words of a query, folded, that say what it is about, if it is asked in one of the
    languages of what is searched.

    One word is proof only where a single language is: `die casting` is no German among English and
    German files.
    """
    asked, known = list(words), list(spoken)
    counts = {name: sum(word in STOPWORDS[name] for word in asked) for name in known}
    most = max(counts.values(), default=0)
    if most < 2 and len(known) != 1:
        return asked
    stop = (
        frozenset.intersection(
            *(STOPWORDS[name] for name, count in counts.items() if count == most)
        )
        if most
        else frozenset()
    )
    return [word for word in asked if word not in stop] or asked
