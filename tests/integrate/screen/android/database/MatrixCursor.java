package android.database;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class MatrixCursor implements Cursor {
    private final String[] columns;
    private final List<String> rows = new ArrayList<String>();

    public MatrixCursor(String[] columns, int capacity) {
        this.columns = columns;
    }

    public void addRow(Object[] row) {
        if (row.length != columns.length) {
            throw new IllegalArgumentException("columnValues.length = " + row.length);
        }
        rows.add(Arrays.toString(row));
    }

    @Override
    public String toString() {
        return Arrays.toString(columns) + rows;
    }
}
