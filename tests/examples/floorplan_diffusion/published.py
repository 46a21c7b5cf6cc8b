"""Plans in the form in which they are published, made with NumPy alone."""

import io
import os
import pickle

import numpy

COLUMN_OF_KIND = (2, 3, 13, 4, 5, 11, 15)  # one of those that become each kind
ROWS = "corner_list_np_normalized_padding_withsemantics"


def entry_of(plan, file_id=7):
    """Return the dictionary of a plan, with every key that is published."""
    count = len(plan.corners)
    matrix = numpy.zeros((count, count), dtype=numpy.uint8)
    matrix[tuple(plan.walls.T)] = matrix[tuple(plan.walls.T[::-1])] = 1
    neighbours = numpy.full((count, 4), -1)
    normal = (plan.corners - 128) / 128
    counts = numpy.zeros((count, 14))
    for kind, column in enumerate(COLUMN_OF_KIND):
        counts[:, column - 2] = 2 * plan.kinds[:, kind]

    def padded(array, *shape):
        whole = numpy.zeros(shape, dtype=array.dtype)
        whole[tuple(slice(size) for size in array.shape)] = array
        return whole

    places = [tuple(corner) for corner in plan.corners.astype(int).tolist()]
    return {
        "file_id": file_id,
        "corners": places,
        "adjacency_matrix": matrix.tolist(),
        "adjacency_list": neighbours.tolist(),
        "corners_np": plan.corners.astype(float),
        "corner_list_np_normalized": normal,
        "adjacency_matrix_np": matrix,
        "adjacency_list_np": neighbours.astype(numpy.uint8),
        "corner_list_np_normalized_padding": padded(normal, 53, 2),
        "padding_mask": padded(numpy.ones((count, 1), dtype=numpy.uint8), 53, 1),
        "global_matrix_np_padding": padded(numpy.ones((count, count), dtype=numpy.uint8), 53, 53),
        "adjacency_matrix_np_padding": padded(matrix, 53, 53),
        "edge_coords": numpy.zeros((2809, 4)),
        "edges": padded(matrix, 53, 53).reshape(2809, 1),
        "semantics": dict(zip(places, counts.astype(int).tolist(), strict=True)),
        ROWS: padded(numpy.hstack([normal, counts]), 53, 16),
    }


def save_as_numpy_1_does(path, entry):
    """Write an entry with the protocol and the names of modules that NumPy 1 writes."""
    boxed = numpy.array(entry, dtype=object)
    file = io.BytesIO()
    numpy.lib.format.write_array_header_1_0(file, numpy.lib.format.header_data_from_array_1_0(boxed))
    content = pickle.dumps(boxed, protocol=3).replace(b"cnumpy._core.", b"cnumpy.core.")
    assert b"cnumpy.core.multiarray\n" in content and b"_core" not in content
    path.write_bytes(file.getvalue() + content)


class Trap:
    """Makes a folder when unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)
