import { join } from "node:path";

/** The directory of this repository. */
export const ROOT = join(import.meta.dirname, "../..");
/** Where the packages are put. */
export const OUTPUT = join(ROOT, "dist/packages");
