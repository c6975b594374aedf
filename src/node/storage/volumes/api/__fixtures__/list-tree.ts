import type { Files } from "../../../../../host/port.ts";

/**
 * Everything beneath a directory as one line each: mode, owner, path, then what a link leads to or what a file says.
 * Versions of volumes are all called `..VERSION`.
 */
export async function listTree(files: Files, directory: string): Promise<string[]> {
  const lines: string[] = [];
  const add = async (relative: string) => {
    for (const { name, type } of await files.list(`${directory}${relative}`)) {
      const path = `${relative}/${name}`;
      const shown = unversioned(path.slice(1));
      if (type === "link") {
        lines.push(`link ${shown} -> ${unversioned((await files.readLink(directory + path)) ?? "")}`);
        continue;
      }
      const { mode = 0, user, group } = (await files.stat(directory + path)) ?? {};
      const owner = `${mode.toString(8).padStart(4, "0")} ${user}:${group}`;
      if (type === "directory") {
        lines.push(`${owner} ${shown}/`);
        await add(path);
      } else {
        lines.push(`${owner} ${shown} = ${JSON.stringify((await files.read(directory + path, 10_000)).toString())}`);
      }
    }
  };
  await add("");
  return lines;
}

function unversioned(path: string): string {
  return path.replace(/(^|\/)\.\.\d{4}(?:_\d\d){5}\.\d{3}(?=\/|$)/, "$1..VERSION");
}
