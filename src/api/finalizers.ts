/** Holds an object that is deleted until the dependents that block its deletion are gone. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";
/** Holds an object that is deleted until its dependents no longer name it as their owner. */
export const ORPHAN_FINALIZER = "orphan";
