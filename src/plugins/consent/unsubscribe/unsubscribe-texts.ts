import type { BuiltInTexts } from '../../../pages/page-languages.ts'

/** Texts of the page. `{category}` stands for the readable name of the category. */
export interface UnsubscribeTexts {
  /** Heading and title. */
  readonly title: string
  readonly question: string
  /** Button: unsubscribes from the category. */
  readonly category: string
  /** Button: unsubscribes from every category of the channel. */
  readonly all: string
  readonly doneCategory: string
  readonly doneAll: string
  /** Says that messages of `critical` events still arrive. */
  readonly note: string
  readonly failed: string
}

export const UNSUBSCRIBE_TEXTS: BuiltInTexts<UnsubscribeTexts> = {
  en: {
    title: 'Unsubscribe',
    question: 'Do you want to stop receiving “{category}”?',
    category: 'Unsubscribe from “{category}”',
    all: 'Unsubscribe from everything on this channel',
    doneCategory: 'You no longer receive “{category}”.',
    doneAll: 'You are unsubscribed from everything on this channel.',
    note: 'You still receive essential messages, such as those about the security of your account.',
    failed: 'That did not work. Please try again in a moment.',
  },
  de: {
    title: 'Abbestellen',
    question: 'Möchten Sie „{category}“ nicht mehr erhalten?',
    category: '„{category}“ abbestellen',
    all: 'Alles auf diesem Kanal abbestellen',
    doneCategory: 'Sie erhalten „{category}“ nicht mehr.',
    doneAll: 'Sie haben alles auf diesem Kanal abbestellt.',
    note: 'Unverzichtbare Nachrichten, etwa zur Sicherheit Ihres Kontos, erhalten Sie weiterhin.',
    failed: 'Das hat nicht geklappt. Bitte versuchen Sie es gleich noch einmal.',
  },
  fr: {
    title: 'Se désabonner',
    question: 'Voulez-vous ne plus recevoir « {category} » ?',
    category: 'Se désabonner de « {category} »',
    all: 'Se désabonner de tout sur ce canal',
    doneCategory: 'Vous ne recevrez plus « {category} ».',
    doneAll: 'Vous êtes désabonné de tout sur ce canal.',
    note: 'Vous continuerez de recevoir les messages essentiels, par exemple sur la sécurité de votre compte.',
    failed: 'Cela n’a pas fonctionné. Veuillez réessayer dans un instant.',
  },
  es: {
    title: 'Cancelar la suscripción',
    question: '¿Quiere dejar de recibir «{category}»?',
    category: 'Dejar de recibir «{category}»',
    all: 'Dejar de recibir todo por este canal',
    doneCategory: 'Ya no recibirá «{category}».',
    doneAll: 'Ha cancelado la suscripción a todo por este canal.',
    note: 'Seguirá recibiendo los mensajes esenciales, como los relativos a la seguridad de su cuenta.',
    failed: 'No ha funcionado. Inténtelo de nuevo en un momento.',
  },
  it: {
    title: 'Annulla l’iscrizione',
    question: 'Non vuole più ricevere «{category}»?',
    category: 'Non ricevere più «{category}»',
    all: 'Non ricevere più nulla su questo canale',
    doneCategory: 'Non riceverà più «{category}».',
    doneAll: 'Ha annullato l’iscrizione a tutto su questo canale.',
    note: 'Continuerà a ricevere i messaggi essenziali, ad esempio sulla sicurezza del suo account.',
    failed: 'Non ha funzionato. Riprovi tra un momento.',
  },
  pt: {
    title: 'Cancelar a subscrição',
    question: 'Quer deixar de receber “{category}”?',
    category: 'Deixar de receber “{category}”',
    all: 'Deixar de receber tudo por este canal',
    doneCategory: 'Já não vai receber “{category}”.',
    doneAll: 'Cancelou a subscrição de tudo neste canal.',
    note: 'Continuará a receber as mensagens essenciais, como as relativas à segurança da sua conta.',
    failed: 'Não funcionou. Tente novamente dentro de momentos.',
  },
  nl: {
    title: 'Afmelden',
    question: 'Wilt u ‘{category}’ niet meer ontvangen?',
    category: 'Afmelden voor ‘{category}’',
    all: 'Afmelden voor alles via dit kanaal',
    doneCategory: 'U ontvangt ‘{category}’ niet meer.',
    doneAll: 'U bent afgemeld voor alles via dit kanaal.',
    note: 'Noodzakelijke berichten, bijvoorbeeld over de beveiliging van uw account, blijft u ontvangen.',
    failed: 'Dat is niet gelukt. Probeer het zo opnieuw.',
  },
}
