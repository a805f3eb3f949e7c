// Lists that are read page by page.

export interface Rows<T> {
  rows: T[];
  last: string | null; // id after which the next page begins; null if there is none
}

type Read<T> = (last?: string) => Promise<Rows<T>>;

// follow adds the next page.
export async function follow<T>({ rows, last }: Rows<T>, read: Read<T>): Promise<Rows<T>> {
  const next = await read(last ?? undefined);
  return { rows: [...rows, ...next.rows], last: next.last };
}

// renew reads a list again: at least as many rows as were shown, if there are that many.
export async function renew<T>(shown: Rows<T> | undefined, read: Read<T>): Promise<Rows<T>> {
  let found = await read();
  while (found.last !== null && found.rows.length < (shown?.rows.length ?? 0)) found = await follow(found, read);
  return found;
}

// paged returns a page of a list whose next page begins after the id of the last row.
export const paged = <T extends { id: string }>(rows: T[], size: number): Rows<T> => ({
  rows,
  last: rows.length < size ? null : rows.at(-1)!.id,
});
