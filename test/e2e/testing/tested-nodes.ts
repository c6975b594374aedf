/** Other versions of Node.js than the one that runs this, by their paths, separated by colons. */
const OTHERS = (process.env["NODELET_TEST_NODES"] ?? "").split(":").filter((path) => path !== "");
if (OTHERS.length === 0) {
  console.warn("SKIPPED: other versions of Node.js; name their programs in NODELET_TEST_NODES=path1:path2");
}

/** The programs of Node.js on which the built package is tried, the one that runs this first. */
export const TESTED_NODES: readonly string[] = [process.execPath, ...OTHERS];
