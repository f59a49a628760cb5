"""algotom_stripes.py STRIPES WORK_DIR: both methods beside algotom's on the same sinograms.

algotom imports compilers and readers that its stripe removal does not use; where they are missing,
empty modules stand for them.
"""
import importlib.abc
import importlib.machinery
import subprocess
import sys
import types


class Empty(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Empty(name)

    def __call__(self, *args, **kwargs):
        return args[0] if args and callable(args[0]) else lambda f: f


class Stand(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    names = ("numba", "h5py", "PIL", "joblib")

    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Stand())
import numpy as np  # noqa: E402
import algotom.prep.removal as removal  # noqa: E402
import algotom.util.utility as utility  # noqa: E402

stripes, work = sys.argv[1:]
failures = 0


def ours(x, text):
    x.astype("<f4").tofile(f"{work}/in.f4")
    subprocess.check_call([stripes, f"{work}/in.f4", f"{work}/out.f4", *map(str, x.shape), text])
    return np.fromfile(f"{work}/out.f4", "<f4").reshape(x.shape)


def check(what, a, b, most):
    global failures
    worst = float(np.abs(a - b).max())
    good = worst <= most
    print(f"{'' if good else 'FAILED: '}{what}: differ by up to {worst:.3g}, allowed {most:g}")
    failures += not good


def simulated(nv, nc, seed):
    rng = np.random.default_rng(seed)
    k, c = np.arange(nv)[:, None] / nv * np.pi, np.arange(nc)[None] - nc / 2
    x = np.zeros((nv, nc))
    for r, px, py in ((0.35, 0, 0), (0.1, 0.15, 0.1), (0.06, -0.2, 0.05)):
        t = c - nc * (px * np.cos(k) + py * np.sin(k))
        x += 2 * np.sqrt(np.maximum((r * nc) ** 2 - t**2, 0)) * 0.01
    x += rng.normal(0, 0.01, x.shape) + rng.normal(0, 0.03, nc)[None]
    while True:  # algotom takes equal samples of a column in any order
        x = x.astype("f4")
        equal = np.zeros(x.shape, bool)
        for i in range(nc):
            order = np.argsort(x[:, i], kind="stable")
            equal[order[1:], i] = np.diff(x[order, i]) == 0
        if not equal.any():
            return x
        x = x + equal * rng.normal(0, 1e-3, x.shape)


def centred(width, height, size, window_name="gaussian"):
    """The damping of Muench et al., 0 at frequency 0: algotom's is where the width is odd."""
    f = np.arange(width) - width // 2
    return np.tile(1 - np.exp(-(f**2) / (2.0 * size**2)), (height, 1))


def wavelet(x, levels, sigma, n):
    return removal.remove_stripe_based_wavelet_fft(x.astype("f8"), levels, sigma, f"db{n}")


sinograms = [("simulated", simulated(*shape)) for shape in
             ((180, 128, 1), (181, 129, 2), (97, 200, 3), (361, 256, 4))]
for name, x in sinograms:
    name = f"{name}, {x.shape[0]} x {x.shape[1]}"
    for size in (5, 21, 22, 31):
        a = removal.remove_stripe_based_sorting(x, size)
        check(f"{name}, sorting:{size}", ours(x, f"sorting:{size}"), a, 0)
    for levels, sigma, n in ((5, 1, 9), (3, 2, 5), (4, 1, 2), (5, 3.5, 20), (2, 1, 1)):
        text = f"wavelet:{levels},{sigma},db{n}"
        usual = utility.make_2d_damping_window
        utility.make_2d_damping_window = centred
        check(f"{name}, {text}", ours(x, text), wavelet(x, levels, sigma, n), 1e-6)
        utility.make_2d_damping_window = usual

# Every level of this one has an odd number of rows: algotom as it is.
x = simulated(97, 200, 5)
check("algotom's own damping", ours(x, "wavelet:4,1,db2"), wavelet(x, 4, 1, 2), 1e-6)
sys.exit(1 if failures else 0)
