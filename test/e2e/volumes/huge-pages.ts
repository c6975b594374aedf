import { readFile, writeFile } from "node:fs/promises";

const COUNT = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

/** Makes the machine set so many more pages of 2 MiB aside, until the returned function is called. */
export async function lendHugePages(pages: number): Promise<() => Promise<void>> {
  const before = Number(await readFile(COUNT, "utf8"));
  await writeFile(COUNT, String(before + pages));
  return async () => await writeFile(COUNT, String(before));
}
