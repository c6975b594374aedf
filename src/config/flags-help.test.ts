import { expect, it } from "vitest";
import { formatKubeletHelp } from "./flags-help.ts";

it("prints the help of the golden file", async () => {
  await expect(formatKubeletHelp(120)).toMatchFileSnapshot("../../test/golden/kubelet-help.txt");
});

it("puts the text below the flag where there is no room beside it", () => {
  const lines = formatKubeletHelp(60).split("\n");
  const at = lines.indexOf("      --config-dir string");
  expect(lines[at + 1]).toMatch(/^ {16}Directory of drop-ins/);
  const tooLong = lines
    .slice(at)
    .filter((line) => line.length > 60 && line.includes(" ", 20) && !line.includes("=true|false"));
  expect(tooLong.filter((line) => line.startsWith(" ".repeat(16)))).toEqual([]);
});
