import { parseImageReference } from "../../../api/image-reference.ts";

/** The repository with its registry in full, without tag and digest: `busybox:1` is `docker.io/library/busybox`. */
export function withRegistry(image: string): string {
  const repository = parseImageReference(image)?.repository ?? image;
  const slash = repository.indexOf("/");
  const first = slash < 0 ? "" : repository.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase();
  const path = isHost ? repository.slice(slash + 1) : repository;
  const host = isHost ? first : "docker.io";
  if (host !== "docker.io" && host !== "index.docker.io") return `${host}/${path}`;
  return path.includes("/") ? `docker.io/${path}` : `docker.io/library/${path}`;
}
