// The orders of lists as the server has them, with their versions.

const none: readonly string[] = [];

export class Orders {
  private readonly orders = new Map<string, readonly string[]>(); // by the key of the list
  private readonly sets = new Map<string, Set<string>>(); // made when they are needed
  private readonly versions = new Map<string, number>();

  clear() {
    for (const map of [this.orders, this.sets, this.versions]) map.clear();
  }

  get(key: string): readonly string[] {
    return this.orders.get(key) ?? none;
  }

  set(key: string, ids: readonly string[]) {
    this.orders.set(key, ids);
    this.sets.delete(key);
  }

  // names reports whether the order of a list contains a task.
  names(key: string, id: string): boolean {
    let set = this.sets.get(key);
    if (!set) this.sets.set(key, (set = new Set(this.get(key))));
    return set.has(id);
  }

  // isOlder reports whether a newer version of a list is known.
  isOlder(key: string, version: number | undefined): boolean {
    return version !== undefined && version < (this.versions.get(key) ?? 0);
  }

  setVersion(key: string, version: number) {
    this.versions.set(key, version);
  }
}
