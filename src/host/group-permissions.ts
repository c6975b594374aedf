/** The way in which a tree is given to a group; see `Files.changeGroup`. */
export interface GroupChange {
  readonly group: number;
  /** The group may read and not write. */
  readonly readOnly: boolean;
  /** Nothing happens when the root of the tree has the result already: fsGroupChangePolicy `OnRootMismatch`. */
  readonly onlyIfRootDiffers: boolean;
}

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const SEARCH = 0o110;
const SET_GROUP_ID = 0o2000;

/** The permission bits that a file of the tree gets. No bit is ever taken away (pkg/volume/volume_linux.go). */
export function modeForGroup(
  { mode, isDirectory }: { mode: number; isDirectory: boolean },
  { readOnly }: Pick<GroupChange, "readOnly">,
): number {
  const forAll = readOnly ? READ_ONLY : READ_WRITE;
  return (mode & 0o7777) | forAll | (isDirectory ? SEARCH | SET_GROUP_ID : 0);
}

/**
 * Tells whether the root of a tree, which upstream takes to be a directory, already has what the change would give it.
 */
export function hasGroup(root: { mode: number; group: number }, { group, readOnly }: GroupChange): boolean {
  return (
    root.group === group && modeForGroup({ mode: root.mode, isDirectory: true }, { readOnly }) === (root.mode & 0o7777)
  );
}
