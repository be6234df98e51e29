const { dataset } = document.body

/** Access of this user, as the host granted it. */
export const host = {
  title: dataset.title ?? 'Sallyport',
  canOperate: dataset.access === 'operate',
  user: dataset.user ?? '',
  tenant: dataset.tenant ?? 'default',
  /** Reads that this host offers. */
  offers: new Set(dataset.offers?.split(' ')),
}

/** Path of the console, with a slash at its end. */
export const base: string = new URL(document.baseURI).pathname
