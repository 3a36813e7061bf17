// Built from page/src by `npm run build`; edit the sources there.
"use strict";(()=>{var LOCALES={en:"en-GB",de:"de-DE"};function decimal(value,decimals,language2,isGrouped=true){const format=new Intl.NumberFormat(
LOCALES[language2],{maximumFractionDigits:Math.min(20,Math.max(0,decimals)),useGrouping:isGrouped});return format.format(
value===0?0:value).replace("-","−")}function decimalsFor(value,digits){if(value===0||!Number.isFinite(value))return 0;
return Math.min(20,Math.max(0,digits-1-Math.floor(Math.log10(Math.abs(value)))))}function significant(value,digits,language2){
const size=Math.abs(value);if(size>=1e15||size>0&&size<1e-9){return value.toExponential(digits-1).replace("-","−")}return decimal(
value,decimalsFor(value,digits),language2)}function awayFromZero(value,decimals){return rounded(value,decimals,Math.ceil)}
function towardZero(value,decimals){return rounded(value,decimals,Math.floor)}function rounded(value,decimals,direction){
const scale=10**decimals;const scaled=Math.abs(value)*scale;const nearest=Math.round(scaled);const whole=Math.abs(scaled-
nearest)<=1e-9*Math.max(1,scaled)?nearest:direction(scaled);return Math.sign(value)*whole/scale}function written(value,language2){
const text=decimal(value,20,language2,false);return parseNumber(text,language2)===value?text:String(value).replace(".",language2===
"de"?",":".")}function parseNumber(text,language2){const plain=text.trim().replace(/[\s\u00a0\u202f']/g,"").replace("−",
"-");const[point,mark]=language2==="de"?[",","."]:[".",","];const grouped=new RegExp(`^[+-]?\\d{1,3}(\\${mark}\\d{3})+(\\${point}\
\\d*)?$`);let number2=plain;if(grouped.test(plain))number2=plain.replaceAll(mark,"");number2=number2.replace(point,"*");
if(!number2.includes("*"))number2=number2.replace(mark,"*");number2=number2.replace("*",".");if(!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.
test(number2))return void 0;const value=Number(number2);return Number.isFinite(value)?value:void 0}function percent(share,language2){
const number2=decimal(Math.ceil(1e3*share-.01)/10,1,language2);return language2==="de"?`${number2} %`:`${number2}%`}var english={name:"English",title:"What would it take?",skip:"Skip to the answer",language:"Language",theme:"Colours",themes:{
auto:"As the device",light:"Light",dark:"Dark"},problem:"Problem",mistake:text=>`The newest file of this problem has a m\
istake; the one before it is used. ${text}`,person:"The person",personIntro:"Fill in the form, or take a person from a t\
able on this device. The table is read here; only the person you look at is sent to the service.",start:"Typical values",
open:"Open a table (CSV)",fromTable:file=>`Person from ${file}`,row:number2=>`Row ${number2}`,openedFirst:(shown,people,file)=>`\
The first ${shown} of ${people} people in ${file}.`,opened:(people,file)=>`${people===1?"1 person":`${people} people`} i\
n ${file}.`,noTable:"This file holds no table: it needs a line with the names of the columns and a line for each person.",
unevenRow:(row2,expected,found)=>`Row ${row2} has ${found} cells where the first line has ${expected}. Mend the row, or \
put values with commas in quotation marks.`,openQuote:row2=>`A quotation mark in or after row ${row2} is never closed.`,
missingColumns:names=>`The table has no column for: ${names}. The fields keep what they had.`,unread:names=>`Please look\
 at these fields again, the table has something else there: ${names}.`,fixed:"No action changes this.",lock:"I cannot ch\
ange this",lockOf:label=>`I cannot change this: ${label}`,own:"My limits",ownOf:label=>`My limits for ${label}`,least:"a\
t least",most:"at most",leastOf:label=>`${label}: at least`,mostOf:label=>`${label}: at most`,amount:"an amount",special:label=>`${label}\
: an amount or something special`,specialMeaning:(value,meaning)=>meaning?`${meaning} (${value})`:value,yes:"yes",no:"no",
between:(lower,upper)=>`from ${lower} to ${upper}`,from:lower=>`from ${lower}`,upTo:upper=>`up to ${upper}`,inSteps:step=>`\
changes in steps of ${step}`,goes:{any:"",increase:"may only rise",decrease:"may only fall"},missing:"Please fill this i\
n.",notANumber:"Please write a number.",notWhole:"Please write a whole number.",outside:range=>`Please choose a value ${range}\
.`,crossed:"The lower limit is above the upper one.",everythingLocked:"You have locked everything, so that no action is \
left to ask for. Please unlock something.",fill:labels=>`To get an answer, please look at: ${labels}.`,safety:"Safety",safetyLabel:"\
How far circumstances may shift",safetyUnit:value=>`${value} standard deviations`,safetyIntro:"To the right, the answer \
withstands larger shifts and asks for more effort.",safetyNone:"No shift is allowed for: the action may end exactly at t\
he edge.",safetyReset:value=>`Back to ${value}`,answer:"The answer",searching:"Searching …",waiting:seconds=>`The serv\
ice is busy. Asking again in ${seconds} ${seconds===1?"second":"seconds"} …`,best:cost=>`Best so far: effort ${cost}, \
not yet proven.`,bestProven:cost=>`Best so far: effort ${cost}, proven to work.`,atLeast:cost=>`Proven so far: nothing t\
akes less effort than ${cost}.`,status:{favourable:"The decision is favourable",found:"There is a way, and it is proven \
to work",unproved:"This may work; it is not proven",impossible:"No allowed action is enough",undecided:"This could not b\
e decided"},badge:{favourable:"Favourable",found:"Not favourable yet",unproved:"Not favourable yet",impossible:"Not favo\
urable",undecided:"Not favourable yet"},about:{favourable:"Nothing needs to be done, as things stand.",found:"",unproved:"\
This action withstood the shifts that were tried. That it works is not proven.",impossible:"It is proven that no allowed\
 action leads to a favourable decision under every shift that is to be withstood.",undecided:"No action was found that i\
s proven to work, and it is not proven that there is none."},notAsked:"Whether it would still be favourable if circumsta\
nces shift was not asked.",withOwn:"“Allowed” includes what you locked and limited yourself.",tryLess:"You can unloc\
k something, widen a limit, or move the slider of safety to the left.",steps:count=>count===1?"Do this":"Do all of this",
follows:"This follows by itself",changes:"Before and after",before:"now",after:"after",acted:"you change this",followed:"\
follows by itself",held:"you hold this",unchanged:"stays",barOf:(label,before,after)=>`${label}: ${before} now, ${after}\
 after`,effort:"Effort",effortOf:cost=>`Effort ${cost}`,effortHelp:"Effort is counted in standard deviations: changing a\
 value by its usual spread counts one, unless it has another weight.",obstacles:"What stands in the way",inEnglish:"In t\
he words of the service:",graph:"What causes what",graphIntro:"An arrow leads from a cause to what follows from it.",graphDrawing:"\
Drawing of causes and what follows from them",graphNone:"In this model no value follows from another.",graphAlone:"Neith\
er causes anything here nor follows from anything:",graphText:"The same in words",graphRow:(from,to)=>`${from} causes ${to}`,
options:"Other ways",optionsIntro:"Each of these alone is proven to be enough.",option:number2=>number2===1?"Least effor\
t found":`Way ${number2}`,optionsOne:"No other way was found that changes other things.",optionsLock:"Find more by locki\
ng what the first way changes.",curve:"What safety costs",curveIntro:"The effort of the cheapest action found for each s\
ize of shift that it withstands. Only the points are known; the line between them guides the eye.",curveX:"shift withsto\
od, in standard deviations",curveY:"effort",curveNow:"now",curveNone:"no allowed action",curveOpen:"undecided",curveText:"\
As a table, to choose from",curveSize:"Shift",curveBound:"At least (proven)",curveWay:"Action",curveUse:"Choose",curveUseOf:epsilon=>`\
Choose a shift of ${epsilon}`,curvePossible:epsilon=>`An action is proven for shifts of up to ${epsilon}.`,curveAny:"An \
action is proven for every size of shift that was tried.",curveImpossible:epsilon=>`From ${epsilon} on it is proven that\
 no allowed action is enough.`,curveSummary:(from,to,low,high)=>`Curve: the effort rises from ${low} for a shift of ${from}\
 to ${high} for a shift of ${to}.`,attack:"Why not just the cheapest?",attackIntro:"An attack searches for the smallest \
shift of circumstances after which an action is no longer enough.",attackCheapest:"The cheapest action without safety",attackThis:"\
This action",attackSame:"No safety is asked for, so this action is the cheapest one. Move the slider of safety to the ri\
ght to compare.",attackEqual:"Here the cheapest action is this one: it is safe enough already.",attackShift:shift=>`This\
 shift would break it: ${shift}.`,attackAtOnce:"It ends at the very edge.",attackThat:"That shift does not break this ac\
tion.",attackNone:"No shift that is guarded against breaks it; that is proven.",attackTried:"No shift of the size guarde\
d against was found to break this action; that is not proven.",attackNothing:"No shift was found that breaks it. That pr\
oves nothing.",attackLargerOnly:size=>`The smallest shift found that breaks it has size ${size}, which is more than is g\
uarded against.`,attackBroken:size=>`A shift of size ${size} breaks it.`,attackBars:"How large a shift has to be before \
the action fails",attackProven:"proven to withstand",attackFound:"smallest shift found that breaks it",attackJustAbove:size=>`\
just above ${size}`,attackAlmostNone:"almost 0",attackMore:percent2=>`The safety takes ${percent2} more effort.`,attackNoCheapest:"\
Without safety, no cheapest action was found to compare with.",lower:(label,by)=>`${label} ${by} lower`,higher:(label,by)=>`${label}\
 ${by} higher`,less:number2=>`less than ${number2}`,less_category:(label,category)=>`${label}: a part of “${category}”\
 less`,more_category:(label,category)=>`${label}: a part of “${category}” more`,and:"and",proof:"What is proven",proofFavourable:"\
That the decision is favourable with exactly these values.",proofHolds:epsilon=>`Whoever does exactly this gets a favour\
able decision under everything that is allowed for (see below; shifts of a size of up to ${epsilon}), as long as decisio\
ns are made as today and changes have the effects that the model assumes.`,proofHoldsNow:"Whoever does exactly this gets\
 a favourable decision, as long as circumstances are as stated, decisions are made as today and changes have the effects\
 that the model assumes.",proofBound:share=>`No other allowed action that is as safe takes more than ${share} less effor\
t.`,proofBest:"No other allowed action that is as safe takes less effort.",proofNoBound:"Whether another action takes le\
ss effort is not known.",proofImpossible:epsilon=>`No allowed action leads to a favourable decision under everything tha\
t is to be withstood (shifts of a size of up to ${epsilon}).`,proofImpossibleNow:"No allowed action leads to a favourabl\
e decision.",proofUndecided:"Nothing about whether there is a way.",proofUndecidedBound:cost=>`If there is a way, it tak\
es an effort of at least ${cost}.`,proofUnproved:"Nothing: this answer comes from a method without proof.",proofRounded:"\
Numbers in sentences are rounded so that doing what they say is never less than what was found; the exact ones are in th\
e proof. The letter has round numbers that are proven as they are written.",proofAllowed:"What is allowed for",proofMayDiffer:(label,value,allowed)=>`${label}\
 (${value}): ${allowed}`,proofSave:"Download the proof",proofCheck:"Check the proof again",proofChecking:"Checking with \
separate code …",proofRight:"Checked again by separate code: the proof is right.",proofWrong:"The proof could not be c\
onfirmed. Do not rely on this answer.",reference:"Reference",proofOfProblem:"The file is for the command surefoot verify\
, and for whoever wants to check the answer later.",proofOfQuestion:"It is about your locks, limits and safety, which th\
e file states: it can be sent to /v1/verify of the service as it is.",letter:"The letter",letterIntro:"For the file, or \
to take along: in round numbers that are proven as they are written. They may differ a little from those above.",letterFor:"\
Name or number in the letter",letterPrint:"Print",letterSave:"Save as HTML",letterFrame:"The letter",failed:"There is no\
 answer now",retry:"Ask again",away:"The service cannot be reached",awayDetail:"Perhaps it has been stopped, or the conn\
ection is broken. What you filled in is still here.",busy:"Too many questions wait at the moment",busyDetail:"The servic\
e refused to take another one. Please ask again in a moment.",slowTitle:"The search takes longer than the service allows",
slowDetail:"Locking more or asking for less safety makes it shorter.",invalid:"The service could not answer for these va\
lues",internal:"The service made a fault",requestId:id=>`Request ${id}`,tokenTitle:"This service asks for a token",tokenDetail:"\
Whoever runs the service has it. It is kept until this page is closed.",tokenWrong:"This token was refused.",token:"Toke\
n",tokenUse:"Use the token",noProblem:"The service has no problem to ask about",partFailed:"This part could not be had:"};var german={name:"Deutsch",title:"Was wäre nötig?",skip:"Zur Antwort springen",language:"Sprache",theme:"Farben",themes:{
auto:"Wie das Gerät",light:"Hell",dark:"Dunkel"},problem:"Problem",mistake:text=>`Die neueste Datei dieses Problems hat\
 einen Fehler; benutzt wird die vorige. ${text}`,person:"Die Person",personIntro:"Füllen Sie das Formular aus, oder nehm\
en Sie eine Person aus einer Tabelle auf diesem Gerät. Die Tabelle wird hier gelesen; an den Dienst geht nur die Person,\
 die Sie ansehen.",start:"Typische Werte",open:"Tabelle öffnen (CSV)",fromTable:file=>`Person aus ${file}`,row:number2=>`\
Zeile ${number2}`,openedFirst:(shown,people,file)=>`Die ersten ${shown} von ${people} Personen in ${file}.`,opened:(people,file)=>`${people===
1?"1 Person":`${people} Personen`} in ${file}.`,noTable:"Diese Datei enthält keine Tabelle: Nötig sind eine Zeile mit de\
n Namen der Spalten und eine für jede Person.",unevenRow:(row2,expected,found)=>`Zeile ${row2} hat ${found} Zellen, die\
 erste Zeile ${expected}. Berichtigen Sie die Zeile, oder setzen Sie Werte mit Kommas in Anführungszeichen.`,openQuote:row2=>`\
Ein Anführungszeichen in oder nach Zeile ${row2} wird nie geschlossen.`,missingColumns:names=>`Die Tabelle hat keine Sp\
alte für: ${names}. Diese Felder bleiben, wie sie waren.`,unread:names=>`Bitte sehen Sie diese Felder noch einmal an, i\
n der Tabelle steht dort etwas anderes: ${names}.`,fixed:"Keine Maßnahme ändert das.",lock:"Das kann ich nicht ändern",
lockOf:label=>`Das kann ich nicht ändern: ${label}`,own:"Meine Grenzen",ownOf:label=>`Meine Grenzen für ${label}`,least:"\
mindestens",most:"höchstens",leastOf:label=>`${label}: mindestens`,mostOf:label=>`${label}: höchstens`,amount:"ein Bet\
rag",special:label=>`${label}: ein Betrag oder etwas Besonderes`,specialMeaning:(value,meaning)=>meaning?`${meaning} (${value}\
)`:value,yes:"ja",no:"nein",between:(lower,upper)=>`von ${lower} bis ${upper}`,from:lower=>`ab ${lower}`,upTo:upper=>`bi\
s ${upper}`,inSteps:step=>`ändert sich in Schritten von ${step}`,goes:{any:"",increase:"kann nur steigen",decrease:"kan\
n nur sinken"},missing:"Bitte füllen Sie das aus.",notANumber:"Bitte geben Sie eine Zahl ein.",notWhole:"Bitte geben Si\
e eine ganze Zahl ein.",outside:range=>`Bitte wählen Sie einen Wert ${range}.`,crossed:"Die untere Grenze liegt über de\
r oberen.",everythingLocked:"Sie haben alles gesperrt, sodass keine Maßnahme bleibt, nach der man fragen könnte. Bitte g\
eben Sie etwas frei.",fill:labels=>`Für eine Antwort sehen Sie bitte noch einmal an: ${labels}.`,safety:"Sicherheit",safetyLabel:"\
Wie weit sich die Verhältnisse verschieben dürfen",safetyUnit:value=>`${value} Standardabweichungen`,safetyIntro:"Weit\
er rechts hält die Antwort größeren Verschiebungen stand und verlangt mehr Aufwand.",safetyNone:"Keine Verschiebung i\
st berücksichtigt: Die Maßnahme darf genau an der Grenze enden.",safetyReset:value=>`Zurück zu ${value}`,answer:"Die \
Antwort",searching:"Es wird gesucht …",waiting:seconds=>`Der Dienst ist ausgelastet. Neuer Versuch in ${seconds} ${seconds===
1?"Sekunde":"Sekunden"} …`,best:cost=>`Bisher am besten: Aufwand ${cost}, noch nicht bewiesen.`,bestProven:cost=>`Bish\
er am besten: Aufwand ${cost}, bewiesen genügend.`,atLeast:cost=>`Bisher bewiesen: Nichts erfordert weniger Aufwand als\
 ${cost}.`,status:{favourable:"Die Entscheidung ist günstig",found:"Es gibt einen Weg, und er ist bewiesen",unproved:"D\
as genügt vielleicht; bewiesen ist es nicht",impossible:"Keine zulässige Maßnahme genügt",undecided:"Das konnte nich\
t entschieden werden"},badge:{favourable:"Günstig",found:"Noch nicht günstig",unproved:"Noch nicht günstig",impossible:"\
Nicht günstig",undecided:"Noch nicht günstig"},about:{favourable:"So, wie die Dinge liegen, ist nichts zu tun.",found:"",
unproved:"Diese Maßnahme hielt den Verschiebungen stand, die versucht wurden. Dass sie genügt, ist nicht bewiesen.",impossible:"\
Es ist bewiesen, dass keine zulässige Maßnahme bei jeder Verschiebung, der sie standhalten soll, zu einer günstigen Ents\
cheidung führt.",undecided:"Es wurde keine Maßnahme gefunden, die bewiesen genügt, und es ist nicht bewiesen, dass es k\
eine gibt."},notAsked:"Ob sie auch günstig wäre, wenn sich die Verhältnisse verschieben, wurde nicht gefragt.",withOwn:"\
„Zulässig“ schließt ein, was Sie selbst gesperrt und begrenzt haben.",tryLess:"Sie können etwas freigeben, eine Gr\
enze weiten oder den Regler der Sicherheit nach links schieben.",steps:count=>count===1?"Das ist zu tun":"All das ist zu\
 tun",follows:"Das folgt von selbst",changes:"Vorher und nachher",before:"jetzt",after:"danach",acted:"ändern Sie",followed:"\
folgt von selbst",held:"halten Sie fest",unchanged:"bleibt",barOf:(label,before,after)=>`${label}: jetzt ${before}, dana\
ch ${after}`,effort:"Aufwand",effortOf:cost=>`Aufwand ${cost}`,effortHelp:"Aufwand zählt in Standardabweichungen: Einen \
Wert um seine übliche Streuung zu ändern zählt eins, wenn er kein anderes Gewicht hat.",obstacles:"Was im Weg steht",
inEnglish:"In den Worten des Dienstes, auf Englisch:",graph:"Was woraus folgt",graphIntro:"Ein Pfeil führt von einer Urs\
ache zu dem, was aus ihr folgt.",graphDrawing:"Zeichnung der Ursachen und dessen, was aus ihnen folgt",graphNone:"In die\
sem Modell folgt kein Wert aus einem anderen.",graphAlone:"Verursacht hier nichts und folgt aus nichts:",graphText:"Dass\
elbe in Worten",graphRow:(from,to)=>`${from} verursacht ${to}`,options:"Andere Wege",optionsIntro:"Jeder davon genügt al\
lein; das ist bewiesen.",option:number2=>number2===1?"Geringster gefundener Aufwand":`Weg ${number2}`,optionsOne:"Es wur\
de kein anderer Weg gefunden, der anderes ändert.",optionsLock:"Weitere finden Sie, indem Sie sperren, was der erste We\
g ändert.",curve:"Was Sicherheit kostet",curveIntro:"Der Aufwand der günstigsten gefundenen Maßnahme für jede Größe der\
 Verschiebung, der sie standhält. Bekannt sind nur die Punkte; die Linie dazwischen führt das Auge.",curveX:"Verschieb\
ung in Standardabweichungen",curveY:"Aufwand",curveNow:"jetzt",curveNone:"keine zulässige Maßnahme",curveOpen:"nicht e\
ntschieden",curveText:"Als Tabelle, zum Auswählen",curveSize:"Verschiebung",curveBound:"Mindestens (bewiesen)",curveWay:"\
Maßnahme",curveUse:"Wählen",curveUseOf:epsilon=>`Eine Verschiebung von ${epsilon} wählen`,curvePossible:epsilon=>`Bis\
 zu Verschiebungen von ${epsilon} ist eine Maßnahme bewiesen.`,curveAny:"Für jede Größe der Verschiebung, die versucht \
wurde, ist eine Maßnahme bewiesen.",curveImpossible:epsilon=>`Ab ${epsilon} ist bewiesen, dass keine zulässige Maßnahme\
 genügt.`,curveSummary:(from,to,low,high)=>`Kurve: Der Aufwand steigt von ${low} bei einer Verschiebung von ${from} auf\
 ${high} bei einer Verschiebung von ${to}.`,attack:"Warum nicht einfach das Günstigste?",attackIntro:"Ein Angriff sucht\
 die kleinste Verschiebung der Verhältnisse, nach der eine Maßnahme nicht mehr genügt.",attackCheapest:"Die günstigst\
e Maßnahme ohne Sicherheit",attackThis:"Diese Maßnahme",attackSame:"Es ist keine Sicherheit verlangt, also ist diese M\
aßnahme die günstigste. Schieben Sie den Regler der Sicherheit nach rechts, um zu vergleichen.",attackEqual:"Hier ist \
die günstigste Maßnahme diese: Sie ist schon sicher genug.",attackShift:shift=>`Diese Verschiebung ließe sie scheitern\
: ${shift}.`,attackAtOnce:"Sie endet genau an der Grenze.",attackThat:"An jener Verschiebung scheitert diese Maßnahme ni\
cht.",attackNone:"An keiner Verschiebung, die berücksichtigt ist, scheitert sie; das ist bewiesen.",attackTried:"Es wur\
de keine Verschiebung der berücksichtigten Größe gefunden, an der diese Maßnahme scheitert; bewiesen ist das nicht.",
attackNothing:"Es wurde keine Verschiebung gefunden, an der sie scheitert. Das beweist nichts.",attackLargerOnly:size=>`\
Die kleinste gefundene Verschiebung, an der sie scheitert, hat die Größe ${size}, mehr als berücksichtigt ist.`,attackBroken:size=>`\
Eine Verschiebung der Größe ${size} lässt sie scheitern.`,attackBars:"Wie groß eine Verschiebung sein muss, bis die M\
aßnahme scheitert",attackProven:"hält bewiesen stand",attackFound:"kleinste gefundene Verschiebung, an der sie scheite\
rt",attackJustAbove:size=>`knapp über ${size}`,attackAlmostNone:"fast 0",attackMore:percent2=>`Die Sicherheit kostet ${percent2}\
 mehr Aufwand.`,attackNoCheapest:"Ohne Sicherheit wurde keine günstigste Maßnahme zum Vergleich gefunden.",lower:(label,by)=>`${label}\
 um ${by} niedriger`,higher:(label,by)=>`${label} um ${by} höher`,less:number2=>`weniger als ${number2}`,less_category:(label,category)=>`${label}\
: ein Teil von „${category}“ weniger`,more_category:(label,category)=>`${label}: ein Teil von „${category}“ mehr`,
and:"und",proof:"Was bewiesen ist",proofFavourable:"Dass die Entscheidung mit genau diesen Werten günstig ist.",proofHolds:epsilon=>`\
Wer genau das tut, erhält eine günstige Entscheidung bei allem, was berücksichtigt ist (siehe unten; Verschiebungen eine\
r Größe bis zu ${epsilon}), solange so entschieden wird wie heute und Änderungen so wirken, wie das Modell annimmt.`,
proofHoldsNow:"Wer genau das tut, erhält eine günstige Entscheidung, solange die Verhältnisse wie angegeben sind, so ent\
schieden wird wie heute und Änderungen so wirken, wie das Modell annimmt.",proofBound:share=>`Keine andere zulässige, e\
benso sichere Maßnahme erfordert mehr als ${share} weniger Aufwand.`,proofBest:"Keine andere zulässige, ebenso sichere \
Maßnahme erfordert weniger Aufwand.",proofNoBound:"Ob eine andere Maßnahme weniger Aufwand erfordert, ist nicht bekannt\
.",proofImpossible:epsilon=>`Keine zulässige Maßnahme führt bei allem, dem sie standhalten soll (Verschiebungen einer Gr\
öße bis zu ${epsilon}), zu einer günstigen Entscheidung.`,proofImpossibleNow:"Keine zulässige Maßnahme führt zu einer\
 günstigen Entscheidung.",proofUndecided:"Nichts darüber, ob es einen Weg gibt.",proofUndecidedBound:cost=>`Gibt es ei\
nen Weg, so erfordert er einen Aufwand von mindestens ${cost}.`,proofUnproved:"Nichts: Diese Antwort stammt von einem Ve\
rfahren ohne Beweis.",proofRounded:"Zahlen in Sätzen sind so gerundet, dass wer tut, was sie sagen, nie weniger tut als \
gefunden wurde; die genauen stehen im Beweis. Der Brief hat runde Zahlen, die so bewiesen sind, wie sie dastehen.",proofAllowed:"\
Was berücksichtigt ist",proofMayDiffer:(label,value,allowed)=>`${label} (${value}): ${allowed}`,proofSave:"Beweis herun\
terladen",proofCheck:"Beweis noch einmal prüfen",proofChecking:"Es wird mit eigenem Code geprüft …",proofRight:"Noch\
 einmal von eigenem Code geprüft: Der Beweis stimmt.",proofWrong:"Der Beweis konnte nicht bestätigt werden. Verlassen S\
ie sich nicht auf diese Antwort.",reference:"Aktenzeichen",proofOfProblem:"Die Datei ist für den Befehl surefoot verify \
und für alle, die die Antwort später prüfen wollen.",proofOfQuestion:"Er gilt für Ihre Sperren, Grenzen und Sicherhei\
t, die mit in der Datei stehen: Sie kann so, wie sie ist, an /v1/verify des Dienstes geschickt werden.",letter:"Der Brie\
f",letterIntro:"Für die Akten oder zum Mitnehmen: in runden Zahlen, die so bewiesen sind, wie sie dastehen. Sie können e\
in wenig von denen oben abweichen.",letterFor:"Name oder Nummer im Brief",letterPrint:"Drucken",letterSave:"Als HTML sic\
hern",letterFrame:"Der Brief",failed:"Im Augenblick gibt es keine Antwort",retry:"Noch einmal fragen",away:"Der Dienst i\
st nicht erreichbar",awayDetail:"Vielleicht wurde er beendet, oder die Verbindung ist unterbrochen. Was Sie ausgefüllt h\
aben, ist noch da.",busy:"Im Augenblick warten zu viele Fragen",busyDetail:"Der Dienst hat keine weitere angenommen. Bit\
te fragen Sie gleich noch einmal.",slowTitle:"Die Suche dauert länger, als der Dienst erlaubt",slowDetail:"Sie wird kür\
zer, wenn Sie mehr sperren oder weniger Sicherheit verlangen.",invalid:"Für diese Werte konnte der Dienst nicht antworte\
n",internal:"Der Dienst hat einen Fehler gemacht",requestId:id=>`Anfrage ${id}`,tokenTitle:"Dieser Dienst verlangt ein T\
oken",tokenDetail:"Wer den Dienst betreibt, kennt es. Es wird behalten, bis diese Seite geschlossen wird.",tokenWrong:"D\
ieses Token wurde abgelehnt.",token:"Token",tokenUse:"Token benutzen",noProblem:"Der Dienst hat kein Problem, zu dem man\
 fragen kann",partFailed:"Dieser Teil war nicht zu bekommen:"};var LANGUAGES={en:english,de:german};function preferred(languages){for(const language2 of languages){const code=language2.
slice(0,2).toLowerCase();if(code==="en"||code==="de")return code}return"en"}var DIGITS=3;function speech(language2){return{language:language2,strings:LANGUAGES[language2]}}function capitalised(text){
return text.charAt(0).toUpperCase()+text.slice(1)}function decimalsOf(column){return column.kind==="real"?decimalsFor(column.
std??1,DIGITS):0}function number(column,value,decimals,language2){return decimal(value,decimals,language2,column.unit!==
null)}function withUnit(column,number2){const forms=column.unit;if(!forms||forms.length===0)return number2;const form=(number2===
"1"?forms[0]:forms[forms.length-1])??"{}";return form.includes("{}")?form.replace("{}",number2):`${number2} ${form}`}function isChosen(column){
return column.categories!==null||column.kind==="binary"||isDescribed(column)}function isDescribed(column){const[lower,upper]=column.
limits;if(column.kind!=="integer"||lower===null||upper===null||upper-lower>50)return false;for(let value=lower;value<=upper;value++){
if(!column.described.some(known=>known.value===value))return false}return column.described.length>0}function specialMeaning(column,value){
const special=column.special.find(special2=>special2.value===value);return special&&(special.meaning??String(special.value))}
function amount(column,value,{language:language2,strings}){if(typeof value==="string"){return column.categories?.find(category=>category.
name===value)?.label??value}const special=specialMeaning(column,value);if(special!==void 0)return special;const described=column.
described.find(known=>known.value===value);if(described)return described.label;if(column.kind==="binary"&&(value===0||value===
1))return value===1?strings.yes:strings.no;const decimals=column.kind==="integer"&&!Number.isInteger(value)?1:decimalsOf(
column);const shown=Math.abs(value)>=1e15?significant(value,4,language2):number(column,value,decimals,language2);return withUnit(
column,shown)}function changeSize(column,by,{language:language2}){const decimals=Math.max(decimalsOf(column),decimalsFor(
by,2));return withUnit(column,number(column,awayFromZero(Math.abs(by),decimals),decimals,language2))}function shiftInWords(columns,shift,said){
const{strings}=said;const parts=columns.flatMap(column=>{if(column.categories&&column.std===null){return column.categories.
map(category=>{const by2=shift[`${column.name}=${category.name}`]??0;const words2=by2<0?strings.less_category:strings.more_category;
return{size:Math.abs(by2),text:words2(column.label,category.label)}})}const by=shift[column.name]??0;const size=Math.abs(
by)/(column.std??1);const words=by<0?strings.lower:strings.higher;return[{size,text:words(column.label,shiftSize(column,
Math.abs(by),said))}]});const largest=Math.max(0,...parts.map(part=>part.size));const counted=parts.filter(part=>part.size>
0&&part.size>=.01*largest);counted.sort((a,b)=>b.size-a.size);return join(counted.map(part=>part.text),strings.and)}function shiftSize(column,size,{
language:language2,strings}){const least=(column.std??1)*1e-4;if(size<least){const decimals=decimalsFor(least,1);return strings.
less(withUnit(column,number(column,awayFromZero(least,decimals),decimals,language2)))}return withUnit(column,number(column,
size,decimalsFor(size,DIGITS),language2))}function join(parts,and){if(parts.length<2)return parts[0]??"";return`${parts.
slice(0,-1).join(", ")} ${and} ${parts[parts.length-1]}`}function effort(cost,language2){return significant(cost,3,language2)}
function effortAtLeast(bound,language2){const decimals=decimalsFor(bound,3);return decimal(towardZero(bound,decimals),decimals,
language2)}function shiftSizePromised(epsilon,language2){const decimals=decimalsFor(epsilon,4);return decimal(towardZero(
epsilon,decimals),decimals,language2)}function shiftSizeRuledOut(epsilon,language2){const decimals=decimalsFor(epsilon,4);
return decimal(awayFromZero(epsilon,decimals),decimals,language2)}function draftOf(problem,values,language2){const empty=()=>({text:"",special:"",isLocked:false,least:"",most:""});const draft=new Map(
problem.columns.map(column=>[column.name,empty()]));fillIn(problem,draft,values,language2);return draft}function fillIn(problem,draft,values,language2){
for(const column of problem.columns){const[entry,value]=[draft.get(column.name),values[column.name]];if(!entry||value===
void 0)continue;entry.special="";if(typeof value==="string")entry.text=value;else if(isChosen(column))entry.text=String(
value);else if(column.special.some(special=>special.value===value))entry.special=String(value);else entry.text=written(roundedToShow(
value),language2)}}function roundedToShow(value){return Number(value.toPrecision(12))}function valueOfCell(column,cell){
if(column.categories)return column.categories.find(category=>category.name===cell)?.name;const value=parseNumber(cell,"e\
n");if(value===void 0)return void 0;const isListed=column.special.some(special=>special.value===value);const isWhole=column.
kind==="real"||Number.isInteger(value);return isListed||isWhole?value:void 0}function translate(problem,draft,from,to){const again=text=>{
const value=parseNumber(text,from);return value===void 0?text:written(value,to)};for(const column of problem.columns){const entry=draft.
get(column.name);if(!entry)continue;if(!isChosen(column))entry.text=again(entry.text);[entry.least,entry.most]=[again(entry.
least),again(entry.most)]}}function mayLimit(column){return column.actionable&&!isChosen(column)&&column.kind!=="categor\
y"}function mayLock(column){return column.actionable}function rangeOf(column,said){const[lower,upper]=column.limits;const{
strings}=said;if(lower!==null&&upper!==null)return strings.between(amount(column,lower,said),amount(column,upper,said));
if(lower!==null)return strings.from(amount(column,lower,said));return upper===null?"":strings.upTo(amount(column,upper,said))}
function read(problem,draft,said){const found={values:{},locked:[],limits:{},faults:new Map};for(const column of problem.
columns){const entry=draft.get(column.name);if(!entry)continue;const value=valueOf(column,entry,said);if(value.fault!==void 0)
found.faults.set(column.name,value.fault);else found.values[column.name]=value.value;if(entry.isLocked&&mayLock(column))
found.locked.push(column.name);else if(mayLimit(column)&&entry.special==="")readLimits(column,entry,said,found)}return found}
function valueOf(column,entry,said){const{strings}=said;if(entry.special!=="")return{value:Number(entry.special)};if(entry.
text.trim()==="")return{fault:strings.missing};if(column.categories)return{value:entry.text};const value=isChosen(column)?
Number(entry.text):parseNumber(entry.text,said.language);if(value===void 0)return{fault:strings.notANumber};if(column.kind!==
"real"&&!Number.isInteger(value))return{fault:strings.notWhole};const[lower,upper]=column.limits;const isSpecial=column.
special.some(special=>special.value===value);const isOutside=lower!==null&&value<lower||upper!==null&&value>upper;if(isOutside&&
!isSpecial)return{fault:strings.outside(rangeOf(column,said))};return{value}}function readLimits(column,entry,said,found){
const{strings,language:language2}=said;const bound=text=>text.trim()===""?null:parseNumber(text,language2);const[least,most]=[
bound(entry.least),bound(entry.most)];if(least===void 0||most===void 0)found.faults.set(column.name,strings.notANumber);else if(least!==
null&&most!==null&&least>most)found.faults.set(column.name,strings.crossed);else if(least!==null||most!==null)found.limits[column.
name]=[least,most]}var SVG="http://www.w3.org/2000/svg";function fill(element,attributes,children){for(const[name,value]of Object.entries(attributes)){
if(typeof value==="function")element.addEventListener(name,value);else if(value===true)element.setAttribute(name,"");else if(value!==
void 0&&value!==false)element.setAttribute(name,String(value))}element.append(...children.filter(child=>Boolean(child)));
return element}function html(tag,attributes={},...children){return fill(document.createElement(tag),attributes,children)}
function svg(tag,attributes={},...children){return fill(document.createElementNS(SVG,tag),attributes,children)}function list(className,...items){
return html("ul",{class:className},...items.filter(Boolean).map(item=>html("li",{},item)))}function show(place,...children){
place.replaceChildren(...children.filter(child=>Boolean(child)))}function download(name,type,text){const address=URL.createObjectURL(
new Blob([text],{type}));const link=html("a",{href:address,download:name});document.body.append(link);link.click();link.
remove();setTimeout(()=>URL.revokeObjectURL(address),1e4)}var ServiceError=class extends Error{constructor(status,kind,title,detail,retryAfter,requestId){super(detail||title);this.
status=status;this.kind=kind;this.title=title;this.detail=detail;this.retryAfter=retryAfter;this.requestId=requestId}status;kind;title;detail;retryAfter;requestId};
var TRIES=4;var Service=class{token="";onWait=()=>{};async problems(){const found=await this.json("GET","v1/problems");return found.
problems}async problem(name){return told(await this.json("GET",`v1/problem?name=${encodeURIComponent(name)}`))}async options(question,values,options,signal){
const body={...question,people:[{values}],options};return first(await this.json("POST","v1/recourse",body,signal),"answe\
rs")}async attack(question,values,action,signal){const body={...question,people:[{values,action}],cheapest:true};return first(
await this.json("POST","v1/attack",body,signal),"attacks")}async tradeOff(question,values,signal){const{epsilon:_,...rest}=question;
return await this.json("POST","v1/trade-off",{...rest,person:{values}},signal)}async letter(question,id,values,options,signal){
const body={...question,people:[{id,values}],options,format:"html"};return first(await this.json("POST","v1/letter",body,
signal),"letters")}async verify(question,proof){const{problem,epsilon,locked,limits}=question;return await this.json("PO\
ST","v1/verify",{problem,epsilon,locked,limits,proofs:[proof]})}async recourse(question,id,values,progress,signal){const body={
...question,people:[{id,values}],proofs:true};const response=await this.send("POST","v1/recourse/stream",body,signal);const reader=response.
body?.getReader();if(!reader)throw away("no body");const decoder=new TextDecoder;let text="";let answer;for(;;){const{done,
value}=await reader.read().catch(error=>{throw signal.aborted?error:away(String(error))});text+=decoder.decode(value,{stream:!done});
const{events,rest}=readEvents(text);text=rest;for(const{event,data}of events){const message=JSON.parse(data);if(event===
"incumbent")progress.incumbent(message);else if(event==="bound")progress.bound(message["cost_bound"]);else if(event==="p\
roof")progress.proof(message);else if(event==="answer")answer=first(message,"answers");else if(event==="error")throw problemDetails(
Number(message["status"]),message,0)}if(done&&answer)return answer;if(done)throw away("the answer ended early")}}async json(method,path,body,signal){
const response=await this.send(method,path,body,signal);return response.json().catch(error=>{throw signal?.aborted?error:
away(String(error))})}async send(method,path,body,signal){const headers={};if(body!==void 0)headers["Content-Type"]="app\
lication/json";if(this.token)headers["Authorization"]=`Bearer ${this.token}`;const request={method,headers,cache:"no-sto\
re"};if(body!==void 0)request.body=JSON.stringify(body);if(signal)request.signal=signal;for(let attempt=1;;attempt++){const response=await fetch(
path,request).catch(error2=>{throw signal?.aborted?error2:away(String(error2))});if(response.ok)return response;const retryAfter=Number(
response.headers.get("Retry-After"))||0;const details=await response.json().catch(()=>({}));const error=problemDetails(response.
status,details,retryAfter);if(response.status!==429||attempt===TRIES)throw error;const seconds=Math.max(1,retryAfter);this.
onWait(seconds);await pause(1e3*seconds,signal)}}};function told(problem){const isShared=({label})=>problem.columns.filter(
other=>other.label===label).length>1;const columns=problem.columns.map(column=>isShared(column)?{...column,label:column.
name}:column);return{...problem,columns}}function first(found,name){const[only]=found[name];if(only===void 0)throw away(
`no ${name}`);return only}function away(detail){return new ServiceError(0,"away","",detail,0,"")}function problemDetails(status,details,retryAfter){
const text=name=>typeof details[name]==="string"?details[name]:"";const kind=text("type").split(":").pop()??"";return new ServiceError(
status,kind,text("title"),text("detail"),retryAfter,text("request_id"))}function pause(milliseconds,signal){return new Promise(
(resolve,reject)=>{const stop=()=>{clearTimeout(timer);reject(signal?.reason)};const timer=setTimeout(()=>{signal?.removeEventListener(
"abort",stop);resolve()},milliseconds);signal?.addEventListener("abort",stop,{once:true})})}function readEvents(text){const parts=text.
replaceAll("\r\n","\n").split("\n\n");const rest=parts.pop()??"";const events=parts.flatMap(part=>{let event="message";const data=[];
for(const line of part.split("\n")){const[,name,value]=/^(event|data): ?(.*)$/.exec(line)??[];if(name==="event")event=value??
"";else if(name==="data")data.push(value??"")}return data.length>0?[{event,data:data.join("\n")}]:[]});return{events,rest}}function inWords(error,strings){if(!(error instanceof ServiceError))return{title:strings.failed,advice:"",detail:String(
error)};const{status,kind,detail,title}=error;if(status===0||status===503)return{title:strings.away,advice:strings.awayDetail,
detail:""};if(status===429)return{title:strings.busy,advice:strings.busyDetail,detail:""};if(kind==="time-limit")return{
title:strings.slowTitle,advice:strings.slowDetail,detail};if(kind==="unknown-problem")return{title:strings.noProblem,advice:"",
detail};if(status>=500)return{title:strings.internal,advice:"",detail};return{title:strings.invalid,advice:"",detail:detail||
title}}function failureBox(error,strings,retry){const{title,advice,detail}=inWords(error,strings);const id=error instanceof
ServiceError?error.requestId:"";return html("div",{class:"failure",role:"alert"},html("p",{},html("strong",{},title),"."),
advice!==""&&html("p",{},advice),detail!==""&&html("p",{},strings.inEnglish," ",html("span",{lang:"en"},detail)),id!==""&&
html("p",{class:"quiet"},strings.requestId(id)),html("p",{},html("button",{type:"button",click:retry},strings.retry)))}function partFailed(error,strings,retry){
const{title,detail}=inWords(error,strings);return html("p",{class:"failure"},`${strings.partFailed} ${title}. `,detail!==
""&&html("span",{lang:"en"},detail," "),html("button",{type:"button",class:"small",click:retry},strings.retry))}var Form=class{constructor(problem,draft,said,onChange){this.problem=problem;this.draft=draft;this.said=said;this.onChange=
onChange;this.render()}problem;draft;said;onChange;element=html("div",{class:"fields"});faults=new Map;render(){this.faults.
clear();show(this.element,...this.problem.columns.map(column=>this.row(column)))}read(){const found=read(this.problem,this.
draft,this.said);for(const[name,place]of this.faults){const fault=found.faults.get(name)??"";if(place.textContent!==fault)
place.textContent=fault;const row2=place.closest(".field");row2?.classList.toggle("wrong",fault!=="");const isOfLimits=fault===
this.said.strings.crossed;row2?.querySelectorAll(".value-input").forEach(input=>{if(fault&&!isOfLimits)input.setAttribute(
"aria-invalid","true");else input.removeAttribute("aria-invalid")})}return found}row(column){const entry=this.draft.get(
column.name);const id=`field-${this.problem.columns.indexOf(column)}`;const fault=html("p",{class:"fault",id:`${id}-faul\
t`});this.faults.set(column.name,fault);const hint=this.hint(column);const described=[hint&&`${id}-hint`,`${id}-fault`].
filter(Boolean).join(" ");return html("div",{class:"field",role:"group","aria-labelledby":`${id}-label`},html("label",{for:id,
id:`${id}-label`},capitalised(column.label)),html("div",{class:"value"},...this.inputs(column,entry,id,described)),hint&&
html("p",{class:"hint",id:`${id}-hint`},hint),fault,mayLock(column)&&this.lock(column,entry),mayLimit(column)&&this.limits(
column,entry,id))}hint(column){const{strings,language:language2}=this.said;if(!column.actionable)return strings.fixed;const parts=[
isChosen(column)?"":rangeOf(column,this.said),strings.goes[column.change]??""];if(column.step!==null)parts.push(strings.
inSteps(decimal(column.step,10,language2)));return parts.filter(Boolean).join("; ")}inputs(column,entry,id,described){const{
strings}=this.said;if(isChosen(column))return[this.choice(column,entry,id,described)];const input=html("input",{id,class:"\
value-input",type:"text",inputmode:"decimal",autocomplete:"off","aria-describedby":described,value:entry.text,input:()=>{
entry.text=input.value;this.onChange()},change:()=>{const value=parseNumber(entry.text,this.said.language);if(value!==void 0)
input.value=entry.text=written(value,this.said.language)},keydown:event=>this.step(column,entry,input,event)});const[before,
after]=unitAround(column);const amount2=html("span",{class:"amount"},before&&html("span",{class:"unit"},before),input,after&&
html("span",{class:"unit"},after));if(column.special.length===0)return[amount2];const specials=column.special.map(({value,
meaning})=>html("option",{value,selected:entry.special===String(value)},strings.specialMeaning(written(value,this.said.language),
meaning??"")));const select=html("select",{"aria-label":strings.special(capitalised(column.label)),change:()=>{entry.special=
select.value;amount2.hidden=entry.special!=="";this.onChange()}},html("option",{value:""},strings.amount),...specials);amount2.
hidden=entry.special!=="";return[select,amount2]}choice(column,entry,id,described){const{strings}=this.said;const choices=column.
categories?column.categories.map(({name,label})=>({value:name,label})):column.described.length>0?column.described.map(({
value,label})=>({value:String(value),label})):[{value:"0",label:strings.no},{value:"1",label:strings.yes}];const special=column.
special.map(({value,meaning})=>({value:String(value),label:meaning??String(value)}));const options=[...choices,...special].
map(({value,label})=>html("option",{value,selected:value===entry.text},label));const select=html("select",{id,class:"val\
ue-input","aria-describedby":described,change:()=>{entry.text=select.value;this.onChange()}},...options);if(!options.some(
option=>option.selected))select.selectedIndex=-1;return select}step(column,entry,input,event){if(event.key!=="ArrowUp"&&
event.key!=="ArrowDown")return;const value=parseNumber(entry.text,this.said.language);if(value===void 0)return;event.preventDefault();
const step=column.step??(column.kind==="real"?10**Math.floor(Math.log10((column.std??1)/10)):1);const by=step*(event.shiftKey?
10:1)*(event.key==="ArrowUp"?1:-1);const[lower,upper]=column.limits;let next=Number((value+by).toFixed(Math.max(0,decimalsOf(
column),-Math.floor(Math.log10(step)))));if(upper!==null)next=Math.min(next,upper);if(lower!==null)next=Math.max(next,lower);
input.value=entry.text=written(next,this.said.language);this.onChange()}lock(column,entry){const{strings}=this.said;const box2=html(
"input",{type:"checkbox",checked:entry.isLocked,"aria-label":strings.lockOf(capitalised(column.label)),change:()=>{entry.
isLocked=box2.checked;box2.closest(".field")?.classList.toggle("locked",box2.checked);this.onChange()}});return html("la\
bel",{class:"lock"},box2,strings.lock)}limits(column,entry,id){const{strings}=this.said;const label=capitalised(column.label);
const field=(key2,word,name)=>{const input=html("input",{type:"text",inputmode:"decimal",autocomplete:"off","aria-label":name,
"aria-describedby":`${id}-fault`,value:entry[key2],input:()=>{entry[key2]=input.value;this.onChange()}});return html("sp\
an",{class:"limit"},html("span",{"aria-hidden":"true"},word),input)};return html("details",{class:"limits",open:entry.least!==
""||entry.most!==""},html("summary",{"aria-label":strings.ownOf(label)},strings.own),html("div",{class:"limit-fields"},field(
"least",strings.least,strings.leastOf(label)),field("most",strings.most,strings.mostOf(label))))}};function unitAround(column){
const form=column.unit?.[column.unit.length-1];if(!form)return["",""];if(!form.includes("{}"))return["",form];const[before,
after]=form.split("{}");return[(before??"").trim(),(after??"").trim()]}function separatorOf(text){const line=(text.split(/\r\n|\n|\r/,1)[0]??"").replace(/"[^"]*"/g,"");const count=mark=>line.
split(mark).length-1;return[",",";","	"].reduce((best,mark)=>count(mark)>count(best)?mark:best)}function readTable(text){
const plain=text.replace(/^\ufeff/,"");const separator=separatorOf(plain);const rows=[];let row2=[];let cell="";let isQuoted=false;
let wasQuoted=false;const endCell=()=>{row2.push(wasQuoted?cell:cell.trim());cell="";wasQuoted=false};const endRow=()=>{
endCell();if(row2.length>1||row2[0]!=="")rows.push(row2);row2=[]};for(let at=0;at<plain.length;at++){const mark=plain.charAt(
at);if(isQuoted){if(mark!=='"')cell+=mark;else if(plain.charAt(at+1)==='"'){cell+='"';at++}else isQuoted=false}else if(mark===
'"'&&cell.trim()===""&&!wasQuoted){isQuoted=true;wasQuoted=true;cell=""}else if(mark===separator)endCell();else if(mark===
"\n"||mark==="\r"){if(mark==="\r"&&plain.charAt(at+1)==="\n")at++;endRow()}else if(!wasQuoted||mark.trim()!=="")cell+=mark}
if(isQuoted)return{fault:"quote",row:rows.length};endRow();const[columns,...people]=rows;if(!columns||people.length===0)
return{fault:"empty"};const uneven=people.findIndex(cells=>cells.length!==columns.length);if(uneven>=0){return{fault:"ce\
lls",row:uneven+1,expected:columns.length,found:people[uneven]?.length??0}}return{columns,rows:people}}var MOST_ROWS=1e3;var People=class{constructor(problem,draft,chosen,said,onChange){this.problem=problem;this.draft=draft;
this.chosen=chosen;this.said=said;this.onChange=onChange;const{strings}=said;const file=html("input",{type:"file",class:"\
unseen",accept:".csv,.tsv,.txt,text/csv",change:()=>void this.open(file)});this.element=html("div",{class:"people"},html(
"p",{class:"quiet"},strings.personIntro),html("p",{class:"buttons"},html("button",{type:"button",click:()=>this.start()},
strings.start),html("label",{class:"button"},file,strings.open)),this.place,this.note);this.showRows()}problem;draft;chosen;said;onChange;element;note=html(
"p",{class:"note",role:"status"});place=html("div");start(){this.chosen.id="1";this.note.textContent="";fillIn(this.problem,
this.draft,this.problem.example,this.said.language);this.onChange()}async open(file){const{strings}=this.said;const[found]=file.
files??[];const text=await found?.text();file.value="";if(!found||text===void 0)return;const table2=readTable(text);if("\
fault"in table2){this.note.textContent=table2.fault==="empty"?strings.noTable:table2.fault==="quote"?strings.openQuote(table2.
row):strings.unevenRow(table2.row,table2.expected,table2.found);return}this.chosen.opened={file:found.name,table:table2,
row:0};this.showRows();this.take(0)}idOf(table2,row2){const column=table2.columns.indexOf("id");return column>=0&&table2.
rows[row2]?.[column]||String(row2+1)}showRows(){const{opened}=this.chosen;const{strings}=this.said;if(!opened)return;const{
table:table2,file}=opened;const hasIds=table2.columns.includes("id");const rows=table2.rows.slice(0,MOST_ROWS);const select=html(
"select",{change:()=>this.take(select.selectedIndex)},...rows.map((_,row2)=>html("option",{selected:row2===opened.row},hasIds?
this.idOf(table2,row2):strings.row(row2+1))));const count=table2.rows.length;const many=count>rows.length?strings.openedFirst(
rows.length,count,file):strings.opened(count,file);show(this.place,html("label",{class:"row-choice"},strings.fromTable(file),
select),html("p",{class:"quiet"},many))}take(row2){const{opened}=this.chosen;if(!opened)return;opened.row=row2;const{table:table2}=opened;
const{strings}=this.said;const[missing,unread]=[[],[]];const values={};for(const column of this.problem.columns){const at=table2.
columns.indexOf(column.name);const value=at<0?void 0:valueOfCell(column,table2.rows[row2]?.[at]??"");if(value!==void 0)values[column.
name]=value;else(at<0?missing:unread).push(capitalised(column.label));const entry=this.draft.get(column.name);if(at>=0&&
value===void 0&&entry)[entry.text,entry.special]=["",""]}this.chosen.id=this.idOf(table2,row2);fillIn(this.problem,this.
draft,values,this.said.language);const notes=[missing.length>0&&strings.missingColumns(missing.join(", ")),unread.length>
0&&strings.unread(unread.join(", "))];this.note.textContent=notes.filter(Boolean).join(" ");this.onChange()}};var NO_CHANGE=1e-6;function roleOf(column,before,option){const after=option.counterfactual[column.name];const isSame=typeof before===
"number"&&typeof after==="number"?Math.abs(after-before)<=NO_CHANGE*(column.std??1):before===after;if(!isSame)return column.
name in option.action?"acted":"followed";return option.steps.some(step=>step.column===column.name)?"held":"unchanged"}function scaleOf(column,shown){
const[mean,std]=[column.mean??0,column.std??1];let low=mean-2*std;let high=mean+2*std;if(column.limits[0]!==null)low=Math.
max(low,column.limits[0]);if(column.limits[1]!==null)high=Math.min(high,column.limits[1]);low=Math.min(low,...shown);high=
Math.max(high,...shown);if(low>0&&low<high/2)low=0;return high>low?[low,high]:[low-1,high+1]}function key({strings}){const entry=(name,words)=>html(
"li",{},html("i",{class:name}),words);return html("ul",{class:"key","aria-hidden":"true"},entry("before",strings.before),
entry("after",strings.after))}function bars(columns,values,option,said){const rows=columns.flatMap(column=>{const[before,
after]=[values[column.name],option.counterfactual[column.name]];const role=roleOf(column,before,option);if(role==="uncha\
nged"||before===void 0||after===void 0)return[];return[row(column,before,after,role,said)]});return html("ul",{class:"ba\
rs"},...rows)}function row(column,before,after,role,said){const{strings}=said;const[now,then]=[amount(column,before,said),
amount(column,after,said)];const label=capitalised(column.label);return html("li",{class:`bar ${role}`},html("span",{class:"\
bar-label"},label," ",html("span",{class:`tag ${role}`},strings[role])),drawing(column,before,after,strings.barOf(label,
now,then)),html("span",{class:"bar-values"},html("span",{class:"before"},now)," → ",html("strong",{},then)))}function drawing(column,before,after,label){
if(typeof before==="number"&&typeof after==="number")return lengths(column,before,after,label);const names=(column.categories??
[]).map(category=>category.name);if(!column.ordered)return html("span",{class:"bar-drawing"});return levels(names.length,
names.indexOf(String(before)),names.indexOf(String(after)),label)}function lengths(column,before,after,label){const[low,
high]=scaleOf(column,[before,after]);const at=value=>100*(value-low)/(high-low);const zero=at(Math.min(high,Math.max(low,
0)));const bar=(value,y,height,name)=>svg("rect",{class:name,x:Math.min(zero,at(value)),y,width:Math.max(.6,Math.abs(at(
value)-zero)),height});return svg("svg",{class:"bar-drawing",viewBox:"0 0 100 20",preserveAspectRatio:"none",role:"img",
"aria-label":label},svg("rect",{class:"track",x:0,y:0,width:100,height:20}),bar(before,2,6,"before"),bar(after,10,8,"aft\
er"),low<0&&high>0&&svg("rect",{class:"zero",x:zero-.15,y:0,width:.3,height:20}))}function levels(count,before,after,label){
const width=100/Math.max(1,count);const blocks=Array.from({length:count},(_,level)=>[svg("rect",{class:level<=before?"be\
fore":"track",x:level*width+.5,y:2,width:width-1,height:6}),svg("rect",{class:level<=after?"after":"track",x:level*width+
.5,y:10,width:width-1,height:8})]);const attributes={class:"bar-drawing",viewBox:"0 0 100 20",preserveAspectRatio:"none",
role:"img","aria-label":label};return svg("svg",attributes,...blocks.flat())}function headline(answer,{strings}){return html("div",{class:`headline ${answer.status}`},html("p",{class:"badge"},strings.
badge[answer.status]),html("p",{class:"status"},strings.status[answer.status]))}function answerBody(problem,values,answer,obstacles,isOwnQuestion,said){
const{strings,language:language2}=said;const about=answer.status==="favourable"?`${strings.about.favourable} ${strings.notAsked}`:
strings.about[answer.status];const parts=[headline(answer,said),about!==""&&html("p",{},about)];const[option]=answer.options;
if(option){parts.push(html("h3",{},strings.steps(option.steps.length)),list("steps",...option.steps.map(step=>step.text)),
option.consequences.length>0&&html("h3",{},strings.follows),option.consequences.length>0&&list("consequences",...option.
consequences.map(step=>step.text)),html("h3",{},strings.changes),key(said),bars(problem.columns,values,option,said),html(
"p",{class:"quiet"},html("strong",{},strings.effortOf(effort(option.cost,language2))),". ",strings.effortHelp))}else if(answer.
status!=="favourable"){parts.push(isOwnQuestion&&answer.status==="impossible"?html("p",{},strings.withOwn):false,obstacles,
answer.status==="undecided"&&answer.reason?html("p",{class:"quiet"},strings.inEnglish," ",html("span",{lang:"en"},answer.
reason)):false,html("p",{},strings.tryLess))}return parts.filter(part=>Boolean(part))}function obstaclesOf(letter,{strings}){
const{obstacles}=letter.letter;return obstacles.length>0?[html("h3",{},strings.obstacles),list("",...obstacles)]:[]}function announcement(answer,{
strings}){return`${strings.status[answer.status]}. ${stepsOf(answer)}`.trim()}function inBrief(answer,{strings}){return answer.
status==="found"&&stepsOf(answer)||strings.status[answer.status]}function stepsOf(answer){return answer.options[0]?.steps.
map(step=>step.text).join(" ")??""}function actionInBrief(problem,action,said){const parts=problem.columns.flatMap(column=>{
const change=action[column.name];if(change===void 0||change===0)return[];const label=capitalised(column.label);if(typeof change===
"string"){return[`${label}: ${column.categories?.find(category=>category.name===change)?.label??change}`]}return[`${label}\
 ${change>0?"+":"−"}${changeSize(column,change,said)}`]});return parts.join(", ")}var ROUNDING=1e-6;function attackBody(problem,answer,attack,epsilon,said){const{strings,language:language2}=said;const{cheapest,
attack:own}=attack;const[option]=answer.options;const isProven=answer.status==="found";if(!cheapest||!own||!option)return html(
"p",{},strings.attackNoCheapest);const isSame=isProven&&JSON.stringify(cheapest.action)===JSON.stringify(option.action);
const more=cheapest.cost>0?option.cost/cheapest.cost-1:0;return html("div",{},html("p",{class:"quiet"},strings.attackIntro),
isSame&&html("p",{},strings.attackEqual),html("div",{class:"cards"},html("article",{class:"card"},html("h3",{},strings.attackCheapest),
html("p",{class:"quiet"},strings.effortOf(effort(cheapest.cost,language2))),list("steps",...cheapest.steps.map(step=>step.
text)),html("p",{class:cheapest.broken?"verdict broken":"verdict"},...breaking(problem,cheapest,said))),html("article",{
class:"card chosen"},html("h3",{},strings.attackThis),html("p",{class:"quiet"},strings.effortOf(effort(option.cost,language2))),
list("steps",...option.steps.map(step=>step.text)),html("p",{class:own.broken?"verdict broken":"verdict safe"},withstanding(
own,cheapest,isProven,said)))),more>1e-4&&html("p",{},strings.attackMore(percent(more,language2))),sizes(cheapest,own,isProven?
epsilon:0,said))}function breaking(problem,cheapest,said){const{strings,language:language2}=said;const{smallest_break:size,
shift,counterexample}=cheapest;if(size===null||!shift)return[strings.attackNothing];const sentence=shift2=>{const words=shiftInWords(
problem.columns,shift2,said);return words&&strings.attackShift(words)};if(!cheapest.broken)return[strings.attackLargerOnly(
significant(size,3,language2))," ",sentence(shift)];const example=sentence(counterexample?.shift??shift);return size<ROUNDING||
!example?[strings.attackAtOnce," ",example]:[example]}function withstanding(own,cheapest,isProven,{strings,language:language2}){
if(own.broken)return strings.attackBroken(significant(own.smallest_break??0,3,language2));if(!isProven)return strings.attackTried;
return cheapest.broken?`${strings.attackThat} ${strings.attackNone}`:strings.attackNone}function breakSize(broken,proven,{
strings,language:language2}){if(broken<ROUNDING)return strings.attackAlmostNone;const size=significant(broken,3,language2);
return broken>proven&&size===significant(proven,3,language2)?strings.attackJustAbove(size):size}function sizes(cheapest,own,proven,said){
const{strings,language:language2}=said;const highest=Math.max(proven,cheapest.smallest_break??0,own.smallest_break??0)*1.05;
if(!(highest>0))return false;const row2=(name,broken,safe)=>{const words=[safe>0&&`${strings.attackProven}: ${shiftSizePromised(
safe,language2)}`,broken!==null&&`${strings.attackFound}: ${breakSize(broken,safe,said)}`].filter(Boolean);return html("\
li",{class:"bar"},html("span",{class:"bar-label"},name),svg("svg",{class:"bar-drawing sizes",viewBox:"0 0 100 20",preserveAspectRatio:"\
none","aria-hidden":"true"},svg("rect",{class:"track",x:0,y:0,width:100,height:20}),safe>0&&svg("rect",{class:"safe",x:0,
y:4,width:100*safe/highest,height:12}),broken!==null&&svg("rect",{class:"break",x:Math.min(99,100*broken/highest),y:0,width:1,
height:20})),html("span",{class:"bar-values"},words.join("; ")))};return html("div",{},html("h3",{},strings.attackBars),
html("ul",{class:"bars"},row2(strings.attackCheapest,cheapest.smallest_break,0),row2(strings.attackThis,own.smallest_break,
proven)))}var SIZE={least:280,most:700,height:260};var FRAME={left:52,right:14,top:16,bottom:44};var EVERY_SIZE=1e3;function ticks(highest,most){
if(!(highest>0))return[0];const rough=highest/most;const power=10**Math.floor(Math.log10(rough));const step=[1,2,5,10].map(
factor=>factor*power).find(step2=>step2>=rough)??10*power;const count=Math.floor(highest/step+1e-9);return Array.from({length:count+
1},(_,at)=>Number((at*step).toPrecision(12)))}function isFound(point){return point.cost!==null}function curve(found,now,choose,width,said){
const{strings,language:language2}=said;const{possible,impossible}=found.reach;const sentences=[possible!==null&&(possible>
EVERY_SIZE?strings.curveAny:strings.curvePossible(shiftSizePromised(possible,language2))),impossible!==null&&strings.curveImpossible(
shiftSizeRuledOut(impossible,language2))].filter(Boolean);return html("div",{},html("p",{class:"quiet"},strings.curveIntro),
found.points.some(isFound)&&drawing2(found,now,choose,Math.min(SIZE.most,Math.max(SIZE.least,width)),said),html("p",{},sentences.
join(" ")),table(found.points,now.epsilon,choose,said))}function summary(points,{strings,language:language2}){const[first2,
last]=[points[0],points[points.length-1]];if(!first2||!last)return strings.curve;const number2=value=>significant(value,
3,language2);return strings.curveSummary(number2(first2.epsilon),number2(last.epsilon),number2(first2.cost),number2(last.
cost))}function drawing2(found,now,choose,width,said){const{strings,language:language2}=said;const points=found.points.filter(
isFound);const right=Math.max(now.epsilon,...found.points.map(point=>point.epsilon),1e-9)*1.06;const top=Math.max(now.cost??
0,...points.map(point=>point.cost),1e-9)*1.1;const x=epsilon=>FRAME.left+(width-FRAME.left-FRAME.right)*epsilon/right;const y=cost=>SIZE.
height-FRAME.bottom-(SIZE.height-FRAME.bottom-FRAME.top)*cost/top;const floor=y(0);const none=found.reach.impossible;return svg(
"svg",{class:"curve",width,height:SIZE.height,viewBox:`0 0 ${width} ${SIZE.height}`,role:"img","aria-label":summary(points,
said)},...axes(right,top,x,y,language2),svg("text",{class:"axis-name",x:(FRAME.left+width-FRAME.right)/2,y:SIZE.height-6,
"text-anchor":"middle"},strings.curveX),svg("text",{class:"axis-name",x:14,y:(FRAME.top+floor)/2,"text-anchor":"middle",
transform:`rotate(-90 14 ${(FRAME.top+floor)/2})`},strings.curveY),...none!==null&&none<right?[svg("rect",{class:"none",
x:x(none),y:FRAME.top,width:x(right)-x(none),height:floor-FRAME.top}),svg("text",{class:"none-name",x:x(none)-6,y:FRAME.
top+12,"text-anchor":"end"},`${strings.curveNone} →`)]:[],svg("path",{class:"line",d:points.map((point,at)=>`${at?"L":
"M"}${x(point.epsilon)},${y(point.cost)}`).join(" ")}),...points.map(point=>spot(point,x,y,choose,said)),svg("line",{class:"\
now",x1:x(now.epsilon),x2:x(now.epsilon),y1:FRAME.top,y2:floor}),now.cost!==null&&svg("circle",{class:"now",cx:x(now.epsilon),
cy:y(now.cost),r:7}),svg("text",{class:"now-name",x:x(now.epsilon)+(now.epsilon>right/2?-6:6),y:FRAME.top+30,"text-ancho\
r":now.epsilon>right/2?"end":"start"},strings.curveNow))}function axes(right,top,x,y,language2){const floor=y(0);const below=ticks(
right,(x(right)-x(0))/80).flatMap(value=>[svg("line",{class:"grid",x1:x(value),x2:x(value),y1:floor,y2:floor+5}),svg("te\
xt",{class:"tick",x:x(value),y:floor+18,"text-anchor":"middle"},significant(value,3,language2))]);const beside=ticks(top,
5).flatMap(value=>[svg("line",{class:"grid",x1:FRAME.left,x2:x(right),y1:y(value),y2:y(value)}),svg("text",{class:"tick",
x:FRAME.left-7,y:y(value)+4,"text-anchor":"end"},significant(value,3,language2))]);return[...beside,...below]}function spot(point,x,y,choose,{
language:language2,strings}){const place=x(point.epsilon);const words=`${strings.curveSize} ${significant(point.epsilon,
3,language2)}: ${strings.effortOf(effort(point.cost,language2))}`;return svg("g",{class:"spot",click:()=>choose(point.epsilon)},
svg("title",{},words),point.cost_bound!==null&&svg("line",{class:"bound",x1:place,x2:place,y1:y(point.cost),y2:y(point.cost_bound)}),
svg("circle",{cx:place,cy:y(point.cost),r:4.5}),svg("circle",{class:"target",cx:place,cy:y(point.cost),r:14}))}function table(points,now,choose,said){
const{strings,language:language2}=said;const number2=(value,words)=>value===null?"–":words(value,language2);const rows=points.
map(point=>{const size=significant(point.epsilon,3,language2);const way=point.option?point.option.steps.map(step=>step.text).
join(" "):point.status==="impossible"?strings.curveNone:strings.curveOpen;return html("tr",{class:Math.abs(point.epsilon-
now)<1e-12?"current":void 0},html("th",{scope:"row"},size),html("td",{},number2(point.cost,effort)),html("td",{},number2(
point.cost_bound,effortAtLeast)),html("td",{class:"text"},way),html("td",{},html("button",{type:"button",class:"small","\
aria-label":strings.curveUseOf(size),click:()=>choose(point.epsilon)},strings.curveUse)))});const head=[strings.curveSize,
strings.effort,strings.curveBound].map(name=>html("th",{scope:"col"},name));const holder=html("div",{class:"scroll",role:"\
region",tabindex:"0","aria-label":strings.curveText});show(holder,html("table",{},html("thead",{},html("tr",{},...head,html(
"th",{scope:"col",class:"text"},strings.curveWay),html("td",{}))),html("tbody",{},...rows)));return html("details",{},html(
"summary",{},strings.curveText),holder)}function sliderNumber(value,step,language2){return decimal(value,Math.max(0,Math.
ceil(-Math.log10(step))),language2)}var SWEEPS=12;var BEND=.3;function layered(names,arrows){const known=new Set(names);const pairs=arrows.filter(([from,to])=>known.
has(from)&&known.has(to)&&from!==to);const layerOf=layersOf(names,pairs);const items=new Map;const layers=[];const add=(layer,room)=>{
const item={layer,room,before:[],after:[],place:0};(layers[layer]??=[]).push(item);return item};for(const name of names)
items.set(name,add(layerOf.get(name)??0,1));const routes=pairs.map(([from,to])=>{const[start,end]=[items.get(from),items.
get(to)];const bends=[];let last=start;for(let layer=start.layer+1;layer<end.layer;layer++){const bend=add(layer,BEND);connect(
last,bend);bends.push(bend);last=bend}connect(last,end);return{from,to,bends}});order(layers);spread(layers);const height=Math.
max(1,...layers.flat().map(item=>item.place+(1+item.room)/2));return{nodes:names.map(name=>{const item=items.get(name);return{
name,layer:item.layer,place:item.place}}),edges:routes.map(({from,to,bends})=>({from,to,bends:bends.map(({layer,place})=>({
layer,place}))})),layers:layers.length,height}}function connect(from,to){from.after.push(to);to.before.push(from)}function layersOf(names,pairs){
const layer=new Map(names.map(name=>[name,0]));for(let round=0;round<names.length;round++){for(const[from,to]of pairs){layer.
set(to,Math.max(layer.get(to)??0,Math.min(names.length-1,(layer.get(from)??0)+1)))}}for(const name of names){const effects=pairs.
filter(([from])=>from===name).map(([,to])=>layer.get(to)??0);const isRoot=!pairs.some(([,to])=>to===name);if(isRoot&&effects.
length>0)layer.set(name,Math.min(...effects)-1)}return layer}function order(layers){const number2=()=>layers.forEach(layer=>layer.
forEach((item,place)=>item.place=place));number2();let best=layers.map(layer=>[...layer]);let fewest=crossings(layers);for(let sweep=0;sweep<
SWEEPS&&fewest>0;sweep++){const isForward=sweep%2===0;const walk=isForward?layers:[...layers].reverse();for(const layer of walk){
const weight=new Map(layer.map(item=>[item,barycentre(isForward?item.before:item.after,item.place)]));layer.sort((a,b)=>(weight.
get(a)??0)-(weight.get(b)??0)||a.place-b.place);layer.forEach((item,place)=>item.place=place)}const found=crossings(layers);
if(found<fewest){fewest=found;best=layers.map(layer=>[...layer])}}best.forEach((layer,at)=>layers[at]=layer);number2()}function barycentre(neighbours,otherwise){
if(neighbours.length===0)return otherwise;return neighbours.reduce((sum,item)=>sum+item.place,0)/neighbours.length}function crossings(layers){
let count=0;for(const layer of layers){const edges=layer.flatMap(from=>from.after.map(to=>[from.place,to.place]));for(let i=0;i<
edges.length;i++){for(let j=0;j<i;j++){const[a,b]=[edges[i],edges[j]];if(a&&b&&(a[0]-b[0])*(a[1]-b[1])<0)count++}}}return count}
function spread(layers){const heights=layers.map(layer=>offsets(layer).end);const tallest=Math.max(1,...heights);layers.
forEach((layer,at)=>{const{places}=offsets(layer);const shift=(tallest-(heights[at]??0))/2;layer.forEach((item,place)=>item.
place=(places[place]??0)+shift)});for(let sweep=0;sweep<SWEEPS;sweep++){for(const layer of sweep%2===0?layers:[...layers].
reverse()){const wanted=layer.map(item=>barycentre([...item.before,...item.after],item.place));settle(layer,wanted)}}const least=Math.
min(...layers.flat().map(item=>item.place+(1-item.room)/2));for(const item of layers.flat())item.place-=least}function offsets(layer){
let end=0;const places=layer.map(({room})=>{end+=room;return end-room/2});return{places,end}}function settle(layer,wanted){
const{places}=offsets(layer);const blocks=[];const startOf=block=>block.sum/block.count;layer.forEach((_,at)=>{blocks.push(
{sum:(wanted[at]??0)-(places[at]??0),count:1,first:at});for(;;){const[before,last]=[blocks[blocks.length-2],blocks[blocks.
length-1]];if(!before||!last||startOf(before)<=startOf(last))break;before.sum+=last.sum;before.count+=last.count;blocks.
pop()}});for(const block of blocks){for(let at=block.first;at<block.first+block.count;at++){const item=layer[at];if(item)
item.place=startOf(block)+(places[at]??0)}}}var BOX_HEIGHT=70;var LINE_HEIGHT=15.5;var BOX_WIDTH={least:134,most:172};var GAP={along:46,across:10};var MARGIN=4;var LETTER={
bold:7.7,value:6.8};var LEAST_SCALE=.8;function graph(problem,values,option,width,said){const{strings}=said;const shown=new Map(
problem.columns.map(column=>[column.name,shownOf(column,values,option,said)]));const columnOf=feature=>shown.has(feature)?
feature:feature.split("=")[0]??feature;const arrows=uniqueArrows(problem.graph.edges.map(({from,to})=>[columnOf(from),columnOf(
to)]));const isLinked=name=>arrows.some(arrow=>arrow.includes(name));const linked=problem.columns.map(column=>column.name).
filter(isLinked);const alone=problem.columns.filter(column=>!isLinked(column.name)).map(column=>capitalised(column.label));
if(linked.length===0)return html("p",{},strings.graphNone);const layout=layered(linked,arrows);const say=name=>capitalised(
shown.get(name)?.column.label??name);const moved=linked.map(name=>shown.get(name)).filter(entry=>entry!==void 0&&entry.role!==
"unchanged");return html("div",{},html("p",{class:"quiet"},strings.graphIntro),html("div",{class:"scroll",role:"region",
tabindex:"0","aria-label":strings.graphDrawing},drawing3(layout,shown,width,said)),alone.length>0&&html("p",{class:"quie\
t"},strings.graphAlone," ",alone.join(", "),"."),html("details",{},html("summary",{},strings.graphText),list("",...arrows.
map(([from,to])=>strings.graphRow(say(from),say(to)))),moved.length>0&&list("",...moved.map(({column,role,value})=>`${capitalised(
column.label)}: ${value} (${strings[role]})`))))}function uniqueArrows(arrows){const seen=new Set;return arrows.filter(([
from,to])=>{const key2=JSON.stringify([from,to]);return from!==to&&!seen.has(key2)&&Boolean(seen.add(key2))})}function shownOf(column,values,option,said){
const before=values[column.name];const after=option?.counterfactual[column.name];const role=option?roleOf(column,before,
option):"unchanged";const now=before===void 0?"":amount(column,before,said);if(after===void 0||role!=="acted"&&role!=="f\
ollowed")return{column,role,value:now,short:now};const then=amount(column,after,said);return{column,role,value:`${now} →\
 ${then}`,short:`→ ${then}`}}function fitted(layout,available,tall){const[count,gap]=tall?[layout.height,GAP.across]:[
layout.layers,GAP.along];const around=2*MARGIN+(count-1)*gap;const box2=Math.min(BOX_WIDTH.most,Math.max(BOX_WIDTH.least,
Math.floor((available-around)/count)));return{box:box2,width:around+count*box2}}function drawing3(layout,shown,available,said){
const[level,upright]=[fitted(layout,available,false),fitted(layout,available,true)];const tall=level.width>available&&upright.
width<level.width;const{box:boxWidth,width}=tall?upright:level;const height=tall?layout.layers*BOX_HEIGHT+(layout.layers-
1)*GAP.along+2*MARGIN:layout.height*BOX_HEIGHT+(layout.height-1)*GAP.across+2*MARGIN;const[boxAlong,boxAcross]=tall?[BOX_HEIGHT,
boxWidth]:[boxWidth,BOX_HEIGHT];const along=layer=>MARGIN+layer*(boxAlong+GAP.along)+boxAlong/2;const across=place=>MARGIN+
place*(boxAcross+GAP.across)+boxAcross/2;const point=(a,c)=>tall?`${c},${a}`:`${a},${c}`;const nodeOf=new Map(layout.nodes.
map(node=>[node.name,node]));const edges=layout.edges.map(({from,to,bends})=>{const[start,end]=[nodeOf.get(from),nodeOf.
get(to)];if(!start||!end)return void 0;let[a,c]=[along(start.layer)+boxAlong/2,across(start.place)];let path=`M${point(a,
c)}`;const curveTo=(nextA,nextC)=>{const middle=(a+nextA)/2;path+=` C${point(middle,c)} ${point(middle,nextC)} ${point(nextA,
nextC)}`;[a,c]=[nextA,nextC]};for(const bend of bends){curveTo(along(bend.layer)-boxAlong/2,across(bend.place));a+=boxAlong;
path+=` L${point(a,c)}`}curveTo(along(end.layer)-boxAlong/2-7,across(end.place));const head=[point(a+6,c),point(a-2,c-4.5),
point(a-2,c+4.5)].join(" ");const isMoved=isMoving(shown.get(from))&&shown.get(to)?.role==="followed";return svg("g",{class:isMoved?
"edge moved":"edge"},svg("path",{d:path}),svg("polygon",{points:head}))});const boxes=layout.nodes.map(node=>{const entry=shown.
get(node.name);const[x,y]=tall?[across(node.place),along(node.layer)]:[along(node.layer),across(node.place)];return entry&&
box(entry,x-boxWidth/2,y-BOX_HEIGHT/2,boxWidth,said)});const scale=width>available&&available>=LEAST_SCALE*width?available/
width:1;return svg("svg",{class:"graph",width:scale*width,height:scale*height,viewBox:`0 0 ${width} ${height}`,role:"img",
"aria-label":said.strings.graphDrawing},...edges,...boxes)}function isMoving(entry){return entry?.role==="acted"||entry?.
role==="followed"}function box(entry,x,y,width,{strings}){const{column,role,value,short}=entry;const label=capitalised(column.
label);const most=Math.floor((width-8)/LETTER.value);const lines=wrapped(label,Math.floor((width-8)/LETTER.bold)).map(line=>[
"node-label",line]);lines.push(["node-value",shortened(value.length>most?short:value,most)]);if(role!=="unchanged")lines.
push(["node-role",strings[role]]);const top=y+(BOX_HEIGHT-lines.length*LINE_HEIGHT)/2+12;return svg("g",{class:`node ${role}`},
svg("title",{},`${label}: ${value}`),svg("rect",{x,y,width,height:BOX_HEIGHT,rx:9}),...lines.map(([name,line],at)=>svg("\
text",{class:name,x:x+width/2,y:top+at*LINE_HEIGHT,"text-anchor":"middle"},line)))}function wrapped(text,most){if(text.length<=
most)return[text];const end=text.lastIndexOf(" ",most);if(end<=0)return[shortened(text,most)];return[text.slice(0,end),shortened(
text.slice(end+1),most)]}function shortened(text,most){return text.length>most?`${text.slice(0,most-1)}…`:text}function letterBody(letter,name,{strings}){const frame=html("iframe",{class:"letter",title:strings.letterFrame,srcdoc:letter.
content,sandbox:"allow-same-origin allow-modals",load:()=>{const height=frame.contentDocument?.documentElement.scrollHeight??
0;if(height>0)frame.style.height=`${height+4}px`}});const file=`letter-${name}`.replace(/[^\p{L}\p{N}.-]+/gu,"-");return html(
"div",{},frame,html("p",{class:"buttons"},html("button",{type:"button",click:()=>frame.contentWindow?.print()},strings.letterPrint),
html("button",{type:"button",click:()=>download(`${file}.html`,"text/html",letter.content)},strings.letterSave)))}var MOST_OPTIONS=3;function optionsBody(problem,values,answer,said){const{strings,language:language2}=said;if(answer.options.
length<2)return html("p",{},strings.optionsOne," ",strings.optionsLock);const cards=answer.options.map((option,at)=>html(
"article",{class:at===0?"card chosen":"card"},html("h3",{},strings.option(at+1)),html("p",{class:"quiet"},strings.effortOf(
effort(option.cost,language2))),list("steps",...option.steps.map(step=>step.text)),option.consequences.length>0&&html("h\
4",{},strings.follows),option.consequences.length>0&&list("consequences",...option.consequences.map(step=>step.text)),bars(
problem.columns,values,option,said)));return html("div",{},html("p",{class:"quiet"},strings.optionsIntro),html("div",{class:"\
cards"},...cards))}var WORTH_SAYING=1e-5;function provenSentences(answer,epsilon,said){const{strings,language:language2}=said;const size=shiftSizePromised(
epsilon,language2);const[option]=answer.options;if(answer.status==="favourable")return[strings.proofFavourable];if(answer.
status==="unproved")return[strings.proofUnproved];if(answer.status==="impossible")return[epsilon>0?strings.proofImpossible(
size):strings.proofImpossibleNow];if(answer.status==="undecided"||!option){const bound2=answer.cost_bound??0;return[strings.
proofUndecided,...bound2>0?[strings.proofUndecidedBound(effortAtLeast(bound2,language2))]:[]]}const bound=answer.cost_bound??
0;const share=option.cost>0?1-bound/option.cost:0;return[epsilon>0?strings.proofHolds(size):strings.proofHoldsNow,bound<=
0?strings.proofNoBound:share>WORTH_SAYING?strings.proofBound(percent(share,language2)):strings.proofBest]}function allowedFor(letter,{
strings}){const details=letter.letter.details.filter(detail=>detail.allowed!==null);const{allowances}=letter.letter;if(details.
length+allowances.length===0)return[];const differences=details.map(({label,value,allowed})=>strings.proofMayDiffer(label,
value,allowed??""));return[html("h3",{},strings.proofAllowed),list("",...differences,...allowances)]}function proofBody(problem,question,answer,allowed,service,said){
const{strings}=said;return html("div",{},list("proven",...provenSentences(answer,question.epsilon,said)),answer.status===
"found"&&html("p",{class:"quiet"},strings.proofRounded),allowed,Boolean(answer.proof)&&buttons(problem,question,answer,service,
said))}function buttons(problem,question,answer,service,{strings}){const verdict=html("p",{role:"status",class:"verdict"});
const check=html("button",{type:"button",click:()=>void run()},strings.proofCheck);const run=async()=>{check.disabled=true;
verdict.className="verdict";verdict.textContent=strings.proofChecking;const found=await service.verify(question,answer.proof).
catch(()=>void 0);check.disabled=false;if(!found){verdict.textContent=strings.away;return}verdict.className=found.all_verified?
"verdict safe":"verdict broken";const faults=found.results.flatMap(result=>result.fault?[result.fault]:[]);show(verdict,
found.all_verified?strings.proofRight:strings.proofWrong,...faults.map(fault=>html("span",{lang:"en"},` ${fault}`)))};const isOfProblem=isAsTheProblem(
problem,question);const{epsilon,locked,limits}=question;const name=`proof-${answer.reference??answer.id}`.replace(/[^\w.-]+/g,
"-");const save=()=>isOfProblem?download(`${name}.jsonl`,"application/jsonl",`${JSON.stringify(answer.proof)}
`):download(`${name}.json`,"application/json",JSON.stringify({problem:problem.name,epsilon,locked,limits,proofs:[answer.
proof]}));return html("div",{},answer.reference?html("p",{},`${strings.reference}: `,html("code",{},answer.reference)):false,
html("p",{class:"buttons"},html("button",{type:"button",click:save},strings.proofSave),check),html("p",{class:"quiet"},isOfProblem?
strings.proofOfProblem:strings.proofOfQuestion),verdict)}function isAsTheProblem(problem,question){return question.epsilon===
problem.epsilon&&question.locked.length===0&&Object.keys(question.limits).length===0}var Section=class{body=html("div",{class:"section-body"});element;constructor(id,heading,...head){const title=html("h2",
{id:`${id}-title`,tabindex:"-1"},heading);this.element=html("section",{id,"aria-labelledby":`${id}-title`},title,...head,
this.body);this.element.hidden=true}show(...children){this.element.hidden=false;this.setBusy(false);show(this.body,...children)}setBusy(isBusy){
this.element.setAttribute("aria-busy",String(isBusy))}hide(){this.element.hidden=true;this.setBusy(false);show(this.body)}};var PAUSE=250;var MOST_LETTER_OPTIONS=2;var Results=class{constructor(service,problem,said,around){this.service=service;
this.problem=problem;this.said=said;this.around=around;const{strings}=said;this.answer=new Section("answer",strings.answer);
this.graph=new Section("graph",strings.graph);this.options=new Section("options",strings.options);this.curve=new Section(
"curve",strings.curve);this.attack=new Section("attack",strings.attack);this.proof=new Section("proof",strings.proof);this.
letterName=html("input",{type:"text",autocomplete:"off",maxlength:200,input:()=>this.renameLetter()});this.letter=new Section(
"letter",strings.letter,html("p",{class:"quiet"},strings.letterIntro),html("p",{},html("label",{class:"letter-name"},strings.
letterFor," ",this.letterName)));this.answer.element.hidden=false;this.answer.body.before(this.progress);this.element=html(
"div",{class:"results"},this.announcer,...this.sections().map(section=>section.element));service.onWait=seconds=>this.showProgress(
strings.waiting(seconds))}service;problem;said;around;element;brief=html("a",{class:"brief",href:"#answer-title",hidden:true});announcer=html(
"p",{class:"unseen",role:"status"});progress=html("div",{class:"progress"});answer;graph;options;curve;attack;proof;letter;obstacles=html(
"div");allowed=html("div");controller=new AbortController;timer=0;last;tradeOff;letterName;letterController=new AbortController;sections(){
return[this.answer,this.graph,this.options,this.curve,this.attack,this.proof,this.letter]}ask(asked){this.stop();this.sections().
forEach(section=>section.setBusy(true));this.timer=window.setTimeout(()=>void this.run(asked),PAUSE)}refuse(text){this.stop();
this.showProgress(text);this.brief.hidden=true;this.sections().forEach(section=>section!==this.answer&&section.hide());show(
this.answer.body);this.answer.setBusy(false)}stop(){window.clearTimeout(this.timer);this.controller.abort();this.letterController.
abort()}resize(){const{last,curve:curve2}=this;if(!last)return;this.drawGraph(last.asked.values,last.answer);if(this.tradeOff&&
curve2.element.getAttribute("aria-busy")!=="true"&&!curve2.element.hidden){curve2.show(this.drawCurve(this.tradeOff.found,
last.asked,last.answer))}}showProgress(...lines){show(this.progress,...lines.filter(Boolean).map(line=>html("p",{},line)))}async run(asked){
const controller=new AbortController;this.controller=controller;const{signal}=controller;try{const answer=await this.search(
asked,signal);if(signal.aborted)return;this.last={asked,answer};this.showAnswer(asked,answer);this.announcer.textContent=
announcement(answer,this.said);show(this.brief,`${inBrief(answer,this.said)} ↓`);this.brief.hidden=false;await this.others(
asked,answer,signal)}catch(error){if(!signal.aborted)this.fail(error,asked)}}async search(asked,signal){const{strings,language:language2}=this.
said;const lines={best:"",action:"",bound:""};const update=()=>{if(!signal.aborted)this.showProgress(strings.searching,lines.
best,lines.action,lines.bound)};const soon=window.setTimeout(update,400);try{return await this.service.recourse(asked.question,
asked.id,asked.values,{incumbent:({cost,action})=>{lines.best=strings.best(effort(cost,language2));lines.action=actionInBrief(
this.problem,action,this.said);update()},proof:({cost,action})=>{lines.best=strings.bestProven(effort(cost,language2));lines.
action=actionInBrief(this.problem,action,this.said);update()},bound:bound=>{lines.bound=bound>0?strings.atLeast(effortAtLeast(
bound,language2)):"";update()}},signal)}finally{window.clearTimeout(soon);if(!signal.aborted)show(this.progress)}}showAnswer(asked,answer){
const{problem,said}=this;const isOwn=!isAsTheProblem(problem,asked.question);show(this.obstacles);show(this.allowed);this.
answer.show(...answerBody(problem,asked.values,answer,this.obstacles,isOwn,said));this.proof.show(proofBody(problem,asked.
question,answer,this.allowed,this.service,said));this.drawGraph(asked.values,answer)}drawGraph(values,answer){const width=this.
graph.body.clientWidth||this.answer.body.clientWidth;this.graph.show(graph(this.problem,values,answer.options[0],width,this.
said));const acted=this.graph.body.querySelector(".node.acted rect")?.getAttribute("x");const window2=this.graph.body.querySelector(
".scroll");if(acted&&window2)window2.scrollLeft=Number(acted)-window2.clientWidth/3}async others(asked,answer,signal){if(answer.
options.length===0)[this.options,this.attack].forEach(section=>section.hide());if(answer.status==="favourable")this.curve.
hide();if(document.activeElement!==this.letterName)this.letterName.value=asked.id;await this.part(this.letter,signal,()=>this.
writeLetter(asked,signal));if(answer.options.length>0){await this.part(this.attack,signal,()=>this.findAttack(asked,answer,
signal));await this.part(this.options,signal,()=>this.findOptions(asked,signal))}if(answer.status!=="favourable")await this.
part(this.curve,signal,()=>this.findCurve(asked,answer,signal))}async part(section,signal,find){section.element.hidden=false;
section.setBusy(true);if(!section.body.hasChildNodes())show(section.body,html("p",{class:"quiet"},this.said.strings.searching));
try{const found=await find();if(!signal.aborted)section.show(found)}catch(error){if(signal.aborted)return;if(error instanceof
ServiceError&&error.status===401)throw error;section.show(partFailed(error,this.said.strings,()=>void this.part(section,
signal,find)))}if(!signal.aborted)show(this.progress)}async findAttack(asked,answer,signal){const{epsilon}=asked.question;
const[option]=answer.options;if(epsilon===0||!option)return html("p",{},this.said.strings.attackSame);const found=await this.
service.attack(asked.question,asked.values,option.action,signal);return attackBody(this.problem,answer,found,epsilon,this.
said)}async findOptions(asked,signal){const found=await this.service.options(asked.question,asked.values,MOST_OPTIONS,signal);
return optionsBody(this.problem,asked.values,found,this.said)}async findCurve(asked,answer,signal){const{epsilon:_,...rest}=asked.
question;const key2=JSON.stringify([rest,asked.values]);if(this.tradeOff?.key!==key2){this.tradeOff={key:key2,found:await this.
service.tradeOff(asked.question,asked.values,signal)}}return this.drawCurve(this.tradeOff.found,asked,answer)}drawCurve(found,asked,answer){
const now={epsilon:asked.question.epsilon,cost:answer.options[0]?.cost??null};const choose=epsilon=>this.around.chooseEpsilon(
epsilon);return curve(found,now,choose,this.answer.body.clientWidth,this.said)}async writeLetter(asked,signal){const name=this.
letterName.value.trim()||asked.id;const letter=await this.service.letter(asked.question,name,asked.values,MOST_LETTER_OPTIONS,
signal);if(!signal.aborted){show(this.obstacles,...obstaclesOf(letter,this.said));show(this.allowed,...allowedFor(letter,
this.said))}return letterBody(letter,name,this.said)}renameLetter(){this.letterController.abort();const controller=new AbortController;
this.letterController=controller;const{last}=this;window.setTimeout(()=>{const{signal}=controller;if(!signal.aborted&&last)
void this.part(this.letter,signal,()=>this.writeLetter(last.asked,signal))},2*PAUSE)}fail(error,asked){show(this.progress);
this.brief.hidden=true;this.sections().forEach(section=>section!==this.answer&&section.hide());if(error instanceof ServiceError&&
error.status===401){show(this.answer.body);this.answer.setBusy(false);this.around.askToken(this.service.token!=="");return}
this.answer.show(failureBox(error,this.said.strings,()=>this.ask(asked)))}};var STEPS=100;function sliderEnd(epsilon){if(!(epsilon>0))return .5;const wanted=5*epsilon;const power=10**Math.floor(Math.
log10(wanted));const factor=[1,2,5,10].find(factor2=>factor2*power>=wanted*(1-1e-9))??10;return Number((factor*power).toPrecision(
6))}var Safety=class{constructor(ofProblem,epsilon,said,onChange){this.ofProblem=ofProblem;this.epsilon=epsilon;this.said=
said;this.onChange=onChange;const{strings,language:language2}=said;const end=sliderEnd(ofProblem);this.step=end/STEPS;this.
slider=html("input",{id:"safety-slider",type:"range",min:0,max:end,step:this.step,value:epsilon,input:()=>{this.epsilon=
Number(Number(this.slider.value).toPrecision(12));this.describe();this.onChange(this.epsilon)}});const back=strings.safetyReset(
significant(ofProblem,3,language2));this.element=html("section",{class:"safety","aria-labelledby":"safety-title"},html("\
h2",{id:"safety-title"},strings.safety),html("label",{for:"safety-slider"},strings.safetyLabel),html("div",{class:"slide\
r"},this.slider,this.output),this.note,html("p",{},html("button",{type:"button",class:"small",click:()=>this.choose(this.
ofProblem)},back)));this.describe()}ofProblem;epsilon;said;onChange;element;slider;output=html("output",{for:"safety-sli\
der"});note=html("p",{class:"quiet"});step;choose(epsilon){this.epsilon=epsilon;if(epsilon>Number(this.slider.max))this.
slider.max=String(sliderEnd(epsilon/5));this.slider.value=String(epsilon);this.describe();this.onChange(epsilon)}describe(){
const{strings,language:language2}=this.said;const isOnStep=Math.abs(this.epsilon/this.step-Math.round(this.epsilon/this.
step))<1e-6;const number2=isOnStep?sliderNumber(this.epsilon,this.step,language2):significant(this.epsilon,3,language2);
this.output.textContent=number2;this.slider.setAttribute("aria-valuetext",strings.safetyUnit(number2));this.note.textContent=
this.epsilon>0?strings.safetyIntro:strings.safetyNone}};var THEMES=["auto","light","dark"];function remembered(name){try{return localStorage.getItem(`surefoot-${name}`)}catch{return null}}
function remember(name,value){try{localStorage.setItem(`surefoot-${name}`,value)}catch{}}function language(){const known=remembered(
"language");return known==="en"||known==="de"?known:preferred(navigator.languages)}function rememberLanguage(code){remember(
"language",code)}function theme(){const known=remembered("theme");return THEMES.find(theme2=>theme2===known)??"auto"}function setTheme(theme2){
document.documentElement.dataset["theme"]=theme2;remember("theme",theme2)}var App=class{constructor(body){this.body=body;let width=window.innerWidth;window.addEventListener("resize",()=>{if(window.
innerWidth!==width)this.results?.resize();width=window.innerWidth})}body;service=new Service;language=language();theme=theme();listed=[];asked;results;form;start(){
setTheme(this.theme);this.frame();void this.load()}get strings(){return LANGUAGES[this.language]}async load(name){try{this.
listed=await this.service.problems();const first2=name??this.listed.find(({digest})=>digest!==null)?.name;if(first2===void 0){
const mistakes=this.listed.flatMap(({name:name2,mistake})=>mistake?[`${name2}: ${mistake}`]:[]);throw new ServiceError(404,
"unknown-problem",this.strings.noProblem,mistakes.join(" "),0,"")}const problem=await this.service.problem(first2);const draft=draftOf(
problem,problem.example,this.language);this.asked={problem,draft,epsilon:problem.epsilon,chosen:{opened:void 0,id:"1"}};
this.draw()}catch(error){if(error instanceof ServiceError&&error.status===401)this.askToken(this.service.token!=="",()=>void this.
load(name));else this.frame(failureBox(error,this.strings,()=>void this.load(name)))}}frame(...content){document.documentElement.
lang=this.language;document.title=`${this.strings.title} – Surefoot`;show(this.body,html("a",{class:"skip",href:"#answ\
er-title"},this.strings.skip),this.head(),html("main",{},...content),this.results?.brief)}head(){const{strings}=this;const languages=Object.
keys(LANGUAGES).map(code=>html("button",{type:"button",lang:code,"data-language":code,"aria-pressed":String(code===this.
language),click:()=>this.speak(code)},LANGUAGES[code].name));const themes=html("select",{change:()=>setTheme(this.theme=
THEMES[themes.selectedIndex]??"auto")},...THEMES.map(name=>html("option",{selected:name===this.theme},strings.themes[name])));
return html("header",{class:"head"},html("div",{class:"name"},html("h1",{},strings.title),html("p",{class:"quiet"},"Sure\
foot")),html("div",{class:"switches"},this.problems(),html("label",{},html("span",{},strings.theme),themes),html("div",{
class:"languages",role:"group","aria-label":strings.language},...languages)))}problems(){const served=this.listed.filter(
({digest})=>digest!==null);if(served.length<2)return void 0;const select=html("select",{change:()=>void this.load(select.
value)},...served.map(({name})=>html("option",{value:name,selected:name===this.asked?.problem.name},name)));return html(
"label",{},html("span",{},this.strings.problem),select)}draw(){const{asked,strings}=this;if(!asked)return;const said=speech(
this.language);this.results?.stop();const form=new Form(asked.problem,asked.draft,said,()=>this.ask());const people=new People(
asked.problem,asked.draft,asked.chosen,said,()=>{form.render();this.ask()});const safety=new Safety(asked.problem.epsilon,
asked.epsilon,said,epsilon=>{asked.epsilon=epsilon;this.ask()});this.form=form;this.results=new Results(this.service,asked.
problem,said,{chooseEpsilon:epsilon=>safety.choose(epsilon),askToken:wasRefused=>this.askToken(wasRefused,()=>this.draw())});
const mistake=this.listed.find(({name})=>name===asked.problem.name)?.mistake;const person=html("section",{id:"person","a\
ria-labelledby":"person-title"},html("h2",{id:"person-title"},strings.person),mistake?html("p",{class:"failure"},strings.
mistake(mistake)):false,people.element,form.element);this.frame(html("div",{class:"question"},safety.element,person),this.
results.element);this.ask()}ask(){const{asked,form,results}=this;if(!asked||!form||!results)return;const{values,locked,limits,
faults}=form.read();if(faults.size>0){const labels=asked.problem.columns.filter(({name})=>faults.has(name)).map(({label})=>capitalised(
label));results.refuse(this.strings.fill(labels.join(", ")));return}if(asked.problem.columns.every(({name,actionable})=>!actionable||
locked.includes(name))){results.refuse(this.strings.everythingLocked);return}const question={problem:asked.problem.name,
epsilon:asked.epsilon,locked,limits,language:this.language};results.ask({question,values,id:asked.chosen.id})}speak(code){
if(code===this.language)return;if(this.asked)translate(this.asked.problem,this.asked.draft,this.language,code);this.language=
code;rememberLanguage(code);if(this.asked)this.draw();else{this.frame();void this.load()}this.body.querySelector(`[data-\
language="${code}"]`)?.focus()}askToken(wasRefused,goOn){const{strings}=this;const input=html("input",{type:"password",id:"\
token",autocomplete:"off",required:true});const form=html("form",{class:"failure",submit:event=>{event.preventDefault();
this.service.token=input.value.trim();goOn()}},html("h2",{},strings.tokenTitle),wasRefused&&html("p",{role:"alert"},strings.
tokenWrong),html("p",{},strings.tokenDetail),html("p",{},html("label",{for:"token"},strings.token," ",input)),html("p",{},
html("button",{},strings.tokenUse)));this.frame(form);input.focus()}};new App(document.body).start();})();
