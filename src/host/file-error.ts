import { CodedError } from "../base/errors.ts";

const MEANINGS = {
  EACCES: "permission denied",
  EBUSY: "resource busy or locked, it is a mount point",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument, not a regular file",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
  ENAMETOOLONG: "directories are nested too deeply",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EOVERFLOW: "too many directory entries",
  EROFS: "read-only file system",
  EXDEV: "leads out of its root",
} as const;

type FileErrorCode = keyof typeof MEANINGS;

/** An error in the form that Node.js gives system errors: `ENOENT: no such file or directory, read '/x'`. */
export function fileError(code: FileErrorCode, operation: string, path: string): CodedError<FileErrorCode> {
  return new CodedError(code, `${code}: ${MEANINGS[code]}, ${operation} '${path}'`);
}
