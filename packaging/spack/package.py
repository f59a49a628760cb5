# For Spack: in a repository of recipes, packages/fbp/package.py.
from spack.package import *


class Fbp(CMakePackage, CudaPackage):
    """Filtered backprojection: volumes from projections of cone-beam, fan-beam and parallel-beam
    scanners, C-arms and EPR imaging, on CPUs and GPUs."""

    git = "file:///path/to/fbp"
    license("Apache-2.0")

    version("main", branch="main")

    variant("gl", default=True, description="Any GPU, by OpenGL")
    variant("static", default=False, description="Static libraries, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5@1.10:")
    depends_on("libtiff@4:")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("cjson")
    depends_on("libepoxy", when="+gl")
    depends_on("cuda@13:", when="+cuda")

    def cmake_args(self):
        args = [
            self.define("FBP_TESTS", False),
            self.define_from_variant("FBP_CUDA", "cuda"),
            self.define_from_variant("FBP_GL", "gl"),
            self.define_from_variant("FBP_STATIC", "static"),
        ]
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("FBP_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
