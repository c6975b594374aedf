/**
 * The directories of one node in which volumes of local storage lie, each known by its name alone. Names are single
 * path elements. Nothing that a pod does within its directory makes a call touch anything outside of it.
 */
export interface LocalDirectories {
  /** The node whose disk they are on. */
  readonly nodeName: string;
  /** The absolute path of the directory, whether it is there or not. */
  pathOf(name: string): string;
  /**
   * Makes the directory, which everybody may write to, unless it is there. It is on the disk when the promise resolves.
   * Resolves with the reason where it cannot be made.
   */
  ensure(name: string): Promise<string | undefined>;
  /**
   * Removes the directory with all that is in it; absent is fine. Links are removed and not followed. Resolves with the
   * reason where something could not be removed, such as a mount.
   */
  remove(name: string): Promise<string | undefined>;
  /** Removes the directory if nothing is in it. Whatever else is left as it is. */
  removeEmpty(name: string): Promise<void>;
  /** The names of the directories that are there; none where that cannot be read. */
  list(): Promise<readonly string[]>;
}
