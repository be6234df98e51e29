const { dataset } = document.body

/** Access of this user, as the host granted it. */
export const host = {
  title: dataset.title ?? 'Sallyport',
  /** Over plain HTTP a browser does not prove that a request comes from this page, so that no POST is answered. */
  canOperate: dataset.access === 'operate' && isSecureContext,
  user: dataset.user ?? '',
  tenant: dataset.tenant ?? 'default',
  /** Reads that this host offers. */
  offers: new Set(dataset.offers?.split(' ')),
}

/** Path of the console, with a slash at its end. */
export const base: string = new URL(document.baseURI).pathname
