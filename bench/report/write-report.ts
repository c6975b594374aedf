import { readFile, writeFile } from "node:fs/promises";
import { NEWEST_RUN, PAGE, TEMPLATE } from "./places.ts";
import { renderPage } from "./render-page.ts";
import { formatRunFile, parseRunFile, type Run } from "./run-file.ts";

/** Writes the page and its pictures, and keeps the run that they are made of. Returns what was written. */
export async function writeReport(run: Run): Promise<string> {
  await writeFile(NEWEST_RUN, formatRunFile(run));
  return await renderReport();
}

/** Makes the page anew of the run that was kept, after a change of the template. */
export async function renderReport(): Promise<string> {
  const run = parseRunFile(await readFile(NEWEST_RUN, "utf8"));
  const { page, pictures } = renderPage(await readFile(TEMPLATE, "utf8"), run);
  for (const [file, svg] of pictures) await writeFile(new URL(file, PAGE), svg);
  await writeFile(PAGE, page);
  return [PAGE, ...[...pictures.keys()].map((file) => new URL(file, PAGE))].map(({ pathname }) => pathname).join("\n");
}
